import { createHash } from 'node:crypto';
import type { CryptoSendRequest } from '../../contract/onramp.js';
import { WALLET } from '../deposit/payment.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';
import { SEND_LIFECYCLE } from './lifecycle.js';

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

/** The "Onramp-crypto record" of the interface. */
export function cryptoSendRecord({ id, reference, status, body }: Transaction<CryptoSendRequest>, word: string) {
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
