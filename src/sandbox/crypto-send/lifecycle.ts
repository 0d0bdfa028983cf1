import type { Lifecycle, Script } from '../transactions/lifecycle.js';

/** "Status values of … onramp-crypto … records: not shown": the three words of DepositStatus. */
export type SendStatus = 'PENDING' | 'SUCCESSFUL' | 'FAILED';

const completed = { story: 'arrives at the receiver', path: ['SUCCESSFUL'] } as const satisfies Script<SendStatus>;

export const SEND_ENDINGS = {
  completed,
  failed: { story: 'fails on the chain; the wallet gets it back', path: ['FAILED'] },
  'no-callbacks-ever': { ...completed, story: 'as completed, and nobody is told', callbacks: false },
  never: { story: 'stays PENDING for ever', path: [] },
  slow: { ...completed, story: 'as completed, `slowFactor` times as slow', pace: 'slow' },
  'success-after-timeout': {
    ...completed,
    story: 'arrives `lateMs` later, long after everybody gave up',
    pace: 'late',
  },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<SendStatus>>;

export const SEND_LIFECYCLE: Lifecycle<SendStatus> = {
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
