import { createHash } from 'node:crypto';
import type { OfframpRequest } from '../contract/offramp.js';
import { fiatFor } from './bridge/quotes.js';
import { decimalsOf, feeOf, less } from './exchange.js';
import { customerKey } from './deposit/payment.js';
import type { HandlerParts, Handlers } from './handler.js';
import { accounts, transfer } from './ledger.js';
import { unknownReference } from './refusal.js';
import type { Transaction } from './transactions/transactions.js';
import type { Lifecycle, Script } from './transactions/lifecycle.js';
import type { Kind, Move } from './transactions/kind.js';

/** NOT_RECEIVED also shows as FAILED, but no crypto ever came: there is nothing to refund. */
type OfframpStatus =
  | 'PENDING'
  | 'CRYPTO_RECEIVED'
  | 'REQUIRE_REVIEW'
  | 'SUCCESS'
  | 'NOT_RECEIVED'
  | 'FAILED'
  | 'REFUND_PENDING'
  | 'REFUNDED'
  | 'REFUND_FAILED';

const completed = {
  story: 'the crypto arrives, the receiver is paid',
  path: ['CRYPTO_RECEIVED', 'SUCCESS'],
} as const satisfies Script<OfframpStatus>;

/** FAILED is not the end of an offramp: "an automatic refund follows" (the live service). */
const OFFRAMP_ENDINGS = {
  completed,
  'refund-failed': {
    story: 'the payout fails, and so does the refund',
    path: ['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING', 'REFUND_FAILED'],
  },
  'failed-then-refunded': {
    story: 'the payout fails; the crypto goes back by itself',
    path: ['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING', 'REFUNDED'],
  },
  'failed-no-refund': { story: 'the payout fails, and no refund ever follows', path: ['CRYPTO_RECEIVED', 'FAILED'] },
  'failed-early': { story: 'FAILED before any crypto came; no refund is due', path: ['NOT_RECEIVED'] },
  'no-callbacks-ever': { ...completed, story: 'as completed, with no callback', callbacks: false },
  never: { story: 'the crypto never comes: PENDING for ever', path: [] },
  'payout-never': { story: 'the crypto arrives, and nothing follows', path: ['CRYPTO_RECEIVED'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  'success-after-timeout': { ...completed, story: 'the receiver is paid `lateMs` after the crypto came', pace: 'late' },
  review: { story: 'held for a review that never ends', path: ['CRYPTO_RECEIVED', 'REQUIRE_REVIEW'] },
  'refund-needs-invoice': {
    story: '`refund.lightning.invoice_needed`; the refund waits until it is given an invoice',
    path: ['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING'],
    onInvoice: 'REFUNDED',
  },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<OfframpStatus>>;

const OFFRAMP_LIFECYCLE: Lifecycle<OfframpStatus> = {
  initial: 'PENDING',
  moves: {
    PENDING: ['CRYPTO_RECEIVED', 'NOT_RECEIVED'],
    CRYPTO_RECEIVED: ['SUCCESS', 'FAILED', 'REQUIRE_REVIEW'],
    REQUIRE_REVIEW: ['SUCCESS', 'FAILED'],
    FAILED: ['REFUND_PENDING'],
    REFUND_PENDING: ['REFUNDED', 'REFUND_FAILED'],
    SUCCESS: [],
    NOT_RECEIVED: [],
    REFUNDED: [],
    REFUND_FAILED: [],
  },
  endings: OFFRAMP_ENDINGS,
  magic: {
    '.12': 'refund-failed',
    '.13': 'failed-then-refunded',
    '.14': 'failed-no-refund',
    '.15': 'failed-early',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.18': 'payout-never',
    '.19': 'slow',
    '.24': 'success-after-timeout',
    '.25': 'review',
    '.26': 'refund-needs-invoice',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  // "Status values of offramp … records: not shown": only the live words are known.
  words: {
    interface: { NOT_RECEIVED: 'FAILED', REQUIRE_REVIEW: 'CRYPTO_RECEIVED' },
    live: { NOT_RECEIVED: 'FAILED' },
  },
};

/** `onchainStatus`, a DepositStatus as elsewhere. */
const onChainStatusOf = (status: string): string =>
  status === 'PENDING' ? 'PENDING' : status === 'NOT_RECEIVED' ? 'FAILED' : 'SUCCESSFUL';

const OFFRAMP_EVENT = 'transaction.offramp.status.updated';
const INVOICE_NEEDED_EVENT = 'refund.lightning.invoice_needed';

/** Crypto in, fiat out to a phone or a bank account; without a receiver, to the integrator's own wallet. */
export const OFFRAMP: Kind<OfframpRequest> = {
  operation: 'createOfframp',
  title: 'Offramp',
  idPrefix: 'OFR',
  lifecycle: OFFRAMP_LIFECYCLE,
  amount: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token }),
  parties: ({ mobileMoneyReceiver: mobile, bankReceiver: bank }) => [
    mobile?.phoneNumber,
    bank?.phoneNumber,
    bank?.accountNumber,
  ],
  callbackUrl: ({ callbackUrl }) => callbackUrl,
  figures({ cryptoAmount, token, currency }, driftBps) {
    const fiatAmount = fiatFor(String(cryptoAmount), token, currency, driftBps, decimalsOf(currency));
    return { fiatAmount, fee: feeOf(fiatAmount, currency) };
  },
  move: (offramp, _from, to) => moveOfframp(offramp, to),
  data: (offramp, word) => offrampRecord(offramp, word),
  event: OFFRAMP_EVENT,
  alsoTells({ id, reference, status, ending, body }, data, at) {
    if (status === 'REFUND_PENDING' && ending === 'refund-needs-invoice') {
      const { token, chain, cryptoAmount } = body;
      const needed = {
        reference_id: reference,
        id,
        status: 'REFUND_PENDING',
        chain,
        token,
        crypto_amount: cryptoAmount,
      };
      return [{ event: INVOICE_NEEDED_EVENT, data: { ...needed, created_at: at } }];
    }
    // "Further events exist" (the live service).
    if (status === 'REFUNDED') return [{ event: 'refund.completed', data }];
    return status === 'REFUND_FAILED' ? [{ event: 'refund.failed', data }] : [];
  },
};

/** "Which of mobileMoneyReceiver and bankReceiver must be given: not shown": either, both and neither are accepted. */
export const offrampHandlers = ({
  admit,
  transactions,
  wordFor,
}: HandlerParts): Pick<Handlers, 'createOfframp' | 'getOfframp'> => ({
  createOfframp: ({ body }) =>
    admit(OFFRAMP, {
      body,
      reference: body.referenceId,
      answer: (offramp) => ({ message: 'Offramp created', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) }),
    }),
  getOfframp({ param }) {
    const [offramp] = transactions.ofReference(param, OFFRAMP.operation) as readonly Transaction<OfframpRequest>[];
    if (offramp === undefined) return unknownReference('Offramp', param);
    return { message: 'Offramp found', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) };
  },
});

/** The "Offramp record" of the interface. */
function offrampRecord(offramp: Transaction<OfframpRequest>, word: string) {
  const { id, reference, status, body, figures, createdAt, updatedAt } = offramp;
  const { fiatAmount = '0', fee = '0' } = figures;
  const { mobileMoneyReceiver, bankReceiver, senderAddress } = body;
  const received = onChainStatusOf(status) === 'SUCCESSFUL';
  const failed = ['FAILED', 'REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED'].includes(status);
  return {
    referenceId: reference,
    fiatAmount: Number(fiatAmount),
    fiatTransactionAmount: Number(less(fiatAmount, fee)),
    fiatCurrency: body.currency,
    cryptoAmount: body.cryptoAmount,
    transactionHashAmount: received ? body.cryptoAmount : 0,
    customerKey: customerKey(mobileMoneyReceiver?.phoneNumber ?? bankReceiver?.accountNumber ?? 'integrator'),
    fiatWalletId: 'integrator',
    senderAddress: senderAddress ?? hexOf(id, 'integrator').slice(0, 42),
    escrowAddress: hexOf(id, 'escrow').slice(0, 42),
    transactionHash: received ? hexOf(id, 'transaction') : undefined,
    status: word,
    onchainStatus: onChainStatusOf(status),
    rate: { value: Number(fiatAmount) / body.cryptoAmount, from: body.token, to: body.currency },
    usingIntegratedWallet: senderAddress === undefined,
    created_at: createdAt,
    updated_at: updatedAt,
    onchainError: status === 'NOT_RECEIVED' ? { message: 'The crypto did not arrive' } : undefined,
    transactionError: failed ? { message: 'The provider refused the payout' } : undefined,
  };
}

const hexOf = (...words: readonly string[]) => `0x${createHash('sha256').update(words.join(' ')).digest('hex')}`;

function moveOfframp({ id, reference, body, figures }: Transaction<OfframpRequest>, to: string): Move | undefined {
  const { cryptoAmount, token, currency, senderAddress } = body;
  const { fiatAmount = '0', fee = '0' } = figures;
  const amount = String(cryptoAmount);
  const sender = accounts.customer(senderAddress ?? `wallet-of-${id}`);
  const moves: Readonly<Partial<Record<string, Move>>> = {
    CRYPTO_RECEIVED: { kind: 'crypto-received', postings: transfer(sender, accounts.held, token, amount) },
    SUCCESS: {
      kind: 'payout',
      postings: [
        ...transfer(accounts.held, accounts.treasury, token, amount),
        ...transfer(accounts.treasury, accounts.recipient(reference), currency, less(fiatAmount, fee)),
        ...transfer(accounts.treasury, accounts.fees, currency, fee),
      ],
    },
    REFUNDED: { kind: 'refund', postings: transfer(accounts.held, sender, token, amount) },
  };
  return moves[to];
}
