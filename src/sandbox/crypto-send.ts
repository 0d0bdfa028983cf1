import { createHash } from 'node:crypto';
import type { CryptoSendRequest } from '../contract/onramp.js';
import { WALLET } from './deposit/payment.js';
import type { HandlerParts, Handlers } from './handler.js';
import { accounts, transfer } from './ledger.js';
import { unknownReference } from './refusal.js';
import type { Transaction } from './transactions/transactions.js';
import type { Lifecycle, Script } from './transactions/lifecycle.js';
import type { Kind } from './transactions/kind.js';

/** "Status values of … onramp-crypto … records: not shown": the three words of DepositStatus. */
type SendStatus = 'PENDING' | 'SUCCESSFUL' | 'FAILED';

const completed = { story: 'arrives at the receiver', path: ['SUCCESSFUL'] } as const satisfies Script<SendStatus>;

const SEND_ENDINGS = {
  completed,
  failed: { story: 'fails on the chain; the wallet gets it back', path: ['FAILED'] },
  'no-callbacks-ever': { ...completed, story: 'as completed, with no callback', callbacks: false },
  never: { story: 'stays PENDING for ever', path: [] },
  slow: { ...completed, story: 'as completed, `slowFactor` times as slow', pace: 'slow' },
  'success-after-timeout': {
    ...completed,
    story: 'arrives `lateMs` later, long after every deadline',
    pace: 'late',
  },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<SendStatus>>;

const SEND_LIFECYCLE: Lifecycle<SendStatus> = {
  initial: 'PENDING',
  moves: { PENDING: ['SUCCESSFUL', 'FAILED'], SUCCESSFUL: [], FAILED: [] },
  endings: SEND_ENDINGS,
  magic: {
    '.13': 'failed',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.19': 'slow',
    '.24': 'success-after-timeout',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  words: { interface: {}, live: { SUCCESSFUL: 'SUCCESS' } },
};

/** A token out of the integrator's wallet, to any address. */
export const CRYPTO_SEND: Kind<CryptoSendRequest> = {
  operation: 'sendCrypto',
  title: 'Crypto send',
  idPrefix: 'SEND',
  lifecycle: SEND_LIFECYCLE,
  amount: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token }),
  parties: () => [],
  callbackUrl: () => undefined,
  figures: () => ({}),
  move({ body: { token, cryptoAmount } }, from, to) {
    const amount = String(cryptoAmount);
    if (from === null) return { kind: 'crypto-send', postings: transfer(WALLET, accounts.cryptoOut, token, amount) };
    if (to !== 'FAILED') return undefined;
    return { kind: 'reversal', postings: transfer(accounts.cryptoOut, WALLET, token, amount) };
  },
  data: (send, word, at) => ({
    ...cryptoSendRecord(send, word),
    id: send.id,
    createdAt: send.createdAt,
    updatedAt: at,
  }),
  event: 'transaction.status.updated',
  alsoTells: () => [],
};

export const cryptoSendHandlers = ({
  admit,
  transactions,
  wordFor,
}: HandlerParts): Pick<Handlers, 'sendCrypto' | 'getCryptoSend'> => ({
  sendCrypto: ({ body }) =>
    admit(CRYPTO_SEND, {
      body,
      reference: body.referenceId,
      answer: (send) => ({ message: 'Crypto send created', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) }),
    }),
  getCryptoSend({ param }) {
    const found = transactions.ofReference(param, CRYPTO_SEND.operation) as readonly Transaction<CryptoSendRequest>[];
    const [send] = found;
    if (send === undefined) return unknownReference('Crypto send', param);
    return { message: 'Crypto send found', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) };
  },
});

/** The "Onramp-crypto record" of the interface. */
function cryptoSendRecord({ id, reference, status, body }: Transaction<CryptoSendRequest>, word: string) {
  const { cryptoAmount, receiverAddress, chain, token } = body;
  const arrived = status === 'SUCCESSFUL';
  return {
    referenceId: reference,
    status: word,
    feeType: 'NONE',
    cryptoWallet: receiverAddress,
    transactionHash: arrived ? `0x${createHash('sha256').update(id).digest('hex')}` : undefined,
    cryptoAmount,
    cryptoAmountReceived: arrived ? cryptoAmount : 0,
    feeInCrypto: 0,
    chain: { name: chain },
    token: { symbol: token },
  };
}
