import type { BankWithdrawalRequest } from '../contract/withdrawal.js';
import { WALLET } from './deposit/payment.js';
import type { HandlerParts, Handlers } from './handler.js';
import { accounts, transfer } from './ledger.js';
import { badMembers } from './refusal.js';
import type { Transaction } from './transactions/transactions.js';
import type { Lifecycle, Script } from './transactions/lifecycle.js';
import type { Kind, Move } from './transactions/kind.js';

type WithdrawalStatus =
  'INITIATED' | 'PENDING' | 'PROCESSING' | 'REQUIRE_REVIEW' | 'SUCCESSFUL' | 'FAILED' | 'REVERSED';

const completed = {
  story: 'paid out to the account',
  path: ['PENDING', 'PROCESSING', 'SUCCESSFUL'],
} as const satisfies Script<WithdrawalStatus>;

const WITHDRAWAL_ENDINGS = {
  completed,
  failed: { story: 'the bank refuses; the wallet gets it back', path: ['PENDING', 'PROCESSING', 'FAILED'] },
  'no-callbacks-ever': { ...completed, story: 'paid out, with no callback', callbacks: false },
  never: { story: 'in processing for ever', path: ['PENDING', 'PROCESSING'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  reversed: {
    story: 'paid out, and one step later sent back by the bank',
    path: ['PENDING', 'PROCESSING', 'SUCCESSFUL', 'REVERSED'],
  },
  'success-after-timeout': {
    ...completed,
    story: 'paid out `lateMs` later, long after every deadline',
    pace: 'late',
  },
  review: { story: 'held for a review that never ends', path: ['PENDING', 'REQUIRE_REVIEW'] },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<WithdrawalStatus>>;

const WITHDRAWAL_LIFECYCLE: Lifecycle<WithdrawalStatus> = {
  initial: 'INITIATED',
  moves: {
    INITIATED: ['PENDING', 'FAILED'],
    PENDING: ['PROCESSING', 'REQUIRE_REVIEW', 'FAILED'],
    PROCESSING: ['SUCCESSFUL', 'FAILED'],
    REQUIRE_REVIEW: ['PROCESSING', 'FAILED'],
    SUCCESSFUL: ['REVERSED'],
    FAILED: [],
    REVERSED: [],
  },
  endings: WITHDRAWAL_ENDINGS,
  magic: {
    '.13': 'failed',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.19': 'slow',
    '.21': 'reversed',
    '.24': 'success-after-timeout',
    '.25': 'review',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  words: {
    interface: { INITIATED: 'PENDING', PROCESSING: 'PENDING', REQUIRE_REVIEW: 'PENDING', REVERSED: 'FAILED' },
    live: { SUCCESSFUL: 'SUCCESS' },
  },
};

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

/** "Currently only South African banks are supported". A missing country counts as South Africa. */
const isSouthAfrican = (country: string | undefined) => country === undefined || SOUTH_AFRICA.test(country.trim());

const abroad = () => badMembers([{ path: 'bankDetails.country', message: 'only South African banks are supported' }]);

export const withdrawalHandlers = ({ admit, numberOf }: HandlerParts): Pick<Handlers, 'createBankWithdrawal'> => ({
  createBankWithdrawal: ({ body }) =>
    admit(WITHDRAWAL, {
      body,
      reference: body.referenceId,
      refusal: () => (isSouthAfrican(body.bankDetails.country) ? undefined : abroad()),
      answer: (withdrawal) => ({
        message: 'Withdrawal created',
        data: {
          id: withdrawal.id,
          message: 'The withdrawal is on its way',
          referenceId: withdrawal.reference,
          referenceNumber: numberOf(withdrawal),
        },
      }),
    }),
});
