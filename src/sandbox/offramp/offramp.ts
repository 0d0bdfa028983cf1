import { createHash } from 'node:crypto';
import type { OfframpRequest } from '../../contract/offramp.js';
import { fiatFor } from '../bridge/rates.js';
import { decimalsOf, feeOf, less } from '../currency.js';
import { customerKey } from '../deposit/payment.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind, Move } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';
import { OFFRAMP_LIFECYCLE, onChainStatusOf } from './lifecycle.js';

export const OFFRAMP_EVENT = 'transaction.offramp.status.updated';
export const INVOICE_NEEDED_EVENT = 'refund.lightning.invoice_needed';

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
    // "Further events exist" (service-notes.md).
    if (status === 'REFUNDED') return [{ event: 'refund.completed', data }];
    return status === 'REFUND_FAILED' ? [{ event: 'refund.failed', data }] : [];
  },
};

/** The "Offramp record" of the interface. */
export function offrampRecord(offramp: Transaction<OfframpRequest>, word: string) {
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
