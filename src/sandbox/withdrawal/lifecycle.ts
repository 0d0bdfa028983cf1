import type { Lifecycle, Script } from '../transactions/lifecycle.js';

export type WithdrawalStatus =
  'INITIATED' | 'PENDING' | 'PROCESSING' | 'REQUIRE_REVIEW' | 'SUCCESSFUL' | 'FAILED' | 'REVERSED';

const completed = {
  story: 'paid out to the account',
  path: ['PENDING', 'PROCESSING', 'SUCCESSFUL'],
} as const satisfies Script<WithdrawalStatus>;

export const WITHDRAWAL_ENDINGS = {
  completed,
  failed: { story: 'the bank refuses; the wallet gets it back', path: ['PENDING', 'PROCESSING', 'FAILED'] },
  'no-callbacks-ever': { ...completed, story: 'paid out, and nobody is told', callbacks: false },
  never: { story: 'in processing for ever', path: ['PENDING', 'PROCESSING'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  reversed: {
    story: 'paid out, and one step later sent back by the bank',
    path: ['PENDING', 'PROCESSING', 'SUCCESSFUL', 'REVERSED'],
  },
  'success-after-timeout': {
    ...completed,
    story: 'paid out `lateMs` later, long after everybody gave up',
    pace: 'late',
  },
  review: { story: 'held for a review that never ends', path: ['PENDING', 'REQUIRE_REVIEW'] },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<WithdrawalStatus>>;

export const WITHDRAWAL_LIFECYCLE: Lifecycle<WithdrawalStatus> = {
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
