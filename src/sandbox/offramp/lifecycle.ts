import type { Lifecycle, Script } from '../transactions/lifecycle.js';

/** NOT_RECEIVED shows as FAILED, too, but no crypto ever came: there is nothing to refund. */
export type OfframpStatus =
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

/** FAILED is not the end of an offramp: "an automatic refund follows" (service-notes.md). */
export const OFFRAMP_ENDINGS = {
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
  'no-callbacks-ever': { ...completed, story: 'as completed, and nobody is told', callbacks: false },
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

export const OFFRAMP_LIFECYCLE: Lifecycle<OfframpStatus> = {
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
  // "Status values of offramp … records: not shown": the live words are the only ones that are known.
  words: {
    interface: { NOT_RECEIVED: 'FAILED', REQUIRE_REVIEW: 'CRYPTO_RECEIVED' },
    live: { NOT_RECEIVED: 'FAILED' },
  },
};

/** `onchainStatus`, a DepositStatus as elsewhere. */
export const onChainStatusOf = (status: string): string =>
  status === 'PENDING' ? 'PENDING' : status === 'NOT_RECEIVED' ? 'FAILED' : 'SUCCESSFUL';
