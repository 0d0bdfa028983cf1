import type { BankWithdrawalRequest } from '../../contract/withdrawal.js';
import { WALLET } from '../deposit/payment.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind, Move } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';
import { WITHDRAWAL_LIFECYCLE } from './lifecycle.js';

/** Out of the integrator's wallet to a bank account. */
export const WITHDRAWAL: Kind<BankWithdrawalRequest> = {
  operation: 'createBankWithdrawal',
  title: 'Bank withdrawal',
  idPrefix: 'WDR',
  lifecycle: WITHDRAWAL_LIFECYCLE,
  amount: ({ amount, currency }) => ({ amount, currency }),
  parties: ({ bankDetails }) => [bankDetails.phoneNumber, bankDetails.accountNumber],
  callbackUrl: ({ callbackUrl }) => callbackUrl,
  figures: () => ({}),
  move: (withdrawal, from, to) => moveWithdrawal(withdrawal, from === null ? 'accepted' : to),
  data: ({ id, number, reference, status, body, createdAt }, word, at) => ({
    id,
    referenceId: reference,
    referenceNumber: number,
    status: word,
    amount: body.amount,
    currency: body.currency,
    bankCode: body.bankDetails.bankCode,
    createdAt,
    updatedAt: at,
    error_message: status === 'FAILED' || status === 'REVERSED' ? 'The bank sent the money back' : undefined,
  }),
  event: 'transaction.withdrawal.status.updated',
  alsoTells: () => [],
};

function moveWithdrawal({ reference, body }: Transaction<BankWithdrawalRequest>, to: string): Move | undefined {
  const { currency } = body;
  const amount = String(body.amount);
  const recipient = accounts.recipient(reference);
  const moves: Readonly<Partial<Record<string, Move>>> = {
    accepted: { kind: 'withdrawal', postings: transfer(WALLET, accounts.held, currency, amount) },
    SUCCESSFUL: { kind: 'payout', postings: transfer(accounts.held, recipient, currency, amount) },
    FAILED: { kind: 'release', postings: transfer(accounts.held, WALLET, currency, amount) },
    REVERSED: { kind: 'reversal', postings: transfer(recipient, WALLET, currency, amount) },
  };
  return moves[to];
}

const SOUTH_AFRICA = /^(za|zaf|south[\s_-]?africa|rsa)$/i;

/** "Currently only South African banks are supported". A country that is not given is taken to be theirs. */
export const isSouthAfrican = (country: string | undefined) =>
  country === undefined || SOUTH_AFRICA.test(country.trim());
