import type { PaymentStatus } from '../deposit/payment-lifecycle.js';
import type { Lifecycle, Script } from '../transactions/lifecycle.js';

/** The fiat leg comes first; from CRYPTO_PENDING on it is paid, and the crypto leg decides. */
export type OnrampStatus =
  | 'INITIATED'
  | 'PENDING'
  | 'REQUIRE_REVIEW'
  | 'CRYPTO_PENDING'
  | 'PROCESSING'
  | 'SUCCESS'
  | 'FIAT_FAILED'
  | 'FIAT_CANCELLED'
  | 'FIAT_DECLINED'
  | 'FIAT_EXPIRED'
  | 'CRYPTO_FAILED';

const completed = {
  story: 'the customer pays, the crypto arrives',
  path: ['PENDING', 'CRYPTO_PENDING', 'PROCESSING', 'SUCCESS'],
} as const satisfies Script<OnrampStatus>;

export const ONRAMP_ENDINGS = {
  completed,
  failed: { story: 'the payment fails', path: ['PENDING', 'FIAT_FAILED'] },
  cancelled: { story: 'the customer cancels the payment', path: ['PENDING', 'FIAT_CANCELLED'] },
  'no-callbacks-ever': { ...completed, story: 'as completed, and nobody is told', callbacks: false },
  never: { story: 'the customer never pays: pending for ever', path: ['PENDING'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  expired: { story: 'the customer does not pay in time', path: ['PENDING', 'FIAT_EXPIRED'] },
  'success-after-timeout': { ...completed, story: 'paid at once; the crypto arrives `lateMs` later', pace: 'late' },
  review: { story: 'held for a review that never ends', path: ['PENDING', 'REQUIRE_REVIEW'] },
  'crypto-failed': {
    story: 'paid, then the transaction fails on the chain; the customer gets the fiat back',
    path: ['PENDING', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_FAILED'],
  },
  'crypto-never': {
    story: 'paid, and the crypto is pending for ever',
    path: ['PENDING', 'CRYPTO_PENDING'],
  },
  declined: { story: 'the bank or network declines', path: ['PENDING', 'FIAT_DECLINED'] },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<OnrampStatus>>;

export const ONRAMP_LIFECYCLE: Lifecycle<OnrampStatus> = {
  initial: 'INITIATED',
  moves: {
    INITIATED: ['PENDING', 'FIAT_FAILED', 'FIAT_CANCELLED', 'FIAT_DECLINED', 'FIAT_EXPIRED'],
    PENDING: ['REQUIRE_REVIEW', 'CRYPTO_PENDING', 'FIAT_FAILED', 'FIAT_CANCELLED', 'FIAT_DECLINED', 'FIAT_EXPIRED'],
    REQUIRE_REVIEW: ['CRYPTO_PENDING', 'FIAT_FAILED'],
    CRYPTO_PENDING: ['PROCESSING', 'CRYPTO_FAILED'],
    PROCESSING: ['SUCCESS', 'CRYPTO_FAILED'],
    SUCCESS: [],
    FIAT_FAILED: [],
    FIAT_CANCELLED: [],
    FIAT_DECLINED: [],
    FIAT_EXPIRED: [],
    CRYPTO_FAILED: [],
  },
  endings: ONRAMP_ENDINGS,
  magic: {
    '.13': 'failed',
    '.15': 'cancelled',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.18': 'crypto-never',
    '.19': 'slow',
    '.23': 'expired',
    '.24': 'success-after-timeout',
    '.25': 'review',
    '.27': 'crypto-failed',
    '.28': 'declined',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  words: {
    interface: {
      INITIATED: 'PENDING',
      REQUIRE_REVIEW: 'PENDING',
      CRYPTO_PENDING: 'PENDING',
      PROCESSING: 'PENDING',
      SUCCESS: 'SUCCESSFUL',
      FIAT_FAILED: 'FAILED',
      FIAT_CANCELLED: 'FAILED',
      FIAT_DECLINED: 'FAILED',
      FIAT_EXPIRED: 'FAILED',
      CRYPTO_FAILED: 'FAILED',
    },
    // "Onramp: PENDING, CRYPTO_PENDING, PROCESSING, then SUCCESS or FAILED" (service-notes.md).
    live: {
      INITIATED: 'PENDING',
      REQUIRE_REVIEW: 'PENDING',
      FIAT_FAILED: 'FAILED',
      FIAT_CANCELLED: 'FAILED',
      FIAT_DECLINED: 'FAILED',
      FIAT_EXPIRED: 'FAILED',
      CRYPTO_FAILED: 'FAILED',
    },
  },
};

const FIAT_LEG: Readonly<Record<OnrampStatus, PaymentStatus>> = {
  INITIATED: 'INITIATED',
  PENDING: 'PENDING',
  REQUIRE_REVIEW: 'REQUIRE_REVIEW',
  CRYPTO_PENDING: 'SUCCESSFUL',
  PROCESSING: 'SUCCESSFUL',
  SUCCESS: 'SUCCESSFUL',
  CRYPTO_FAILED: 'SUCCESSFUL',
  FIAT_FAILED: 'FAILED',
  FIAT_CANCELLED: 'CANCELLED',
  FIAT_DECLINED: 'DECLINED',
  FIAT_EXPIRED: 'EXPIRED',
};

/** What the mobile money leg shows, by the payment lifecycle. */
export const fiatStatusOf = (status: string): PaymentStatus => FIAT_LEG[status as OnrampStatus];

const ON_CHAIN: Readonly<Partial<Record<string, 'SUCCESSFUL' | 'FAILED'>>> = {
  SUCCESS: 'SUCCESSFUL',
  CRYPTO_FAILED: 'FAILED',
};

/** What the on-chain leg shows. Without a payment there is no transaction: it stays PENDING, and the fiat leg decides. */
export const onChainStatusOf = (status: string) => ON_CHAIN[status] ?? 'PENDING';
