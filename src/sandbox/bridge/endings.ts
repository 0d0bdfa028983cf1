import type { BridgeStatus } from '../../contract/vocabulary.js';

/** The settlement provider's posts, one after the other, once the crypto reached it. */
export type ProviderReport = Extract<BridgeStatus, 'SETTLING' | 'COMPLETED' | 'FAILED'>;

/** The course of one bridge deposit. */
interface Script {
  /** Shown in the docs. */
  readonly story: string;
  /** The status to which the service moves by itself, one step of time after it reached the status on the left. */
  readonly next: Partial<Readonly<Record<BridgeStatus, BridgeStatus>>>;
  readonly provider: readonly ProviderReport[];
  /** False: `callback_url` is never called. */
  readonly callbacks: boolean;
  /** What a FAILED reports of the service's refund (`refund_details`); only if the crypto had been paid. */
  readonly refund?: 'announced' | 'begun';
  /** Steps take `slowFactor` times longer. */
  readonly slow?: boolean;
  /** The provider's COMPLETED has another amount than the deposit. */
  readonly mismatchingAmount?: boolean;
  /** The deposit is refused. `times`: only this often for one reference, after that it goes as `completed`. */
  readonly refuses?: 'transaction-failed' | 'insufficient-funds' | 'rate-expired';
}

const PAYING = {
  DEPOSIT_INITIATED: 'DEPOSIT_CONFIRMED',
  DEPOSIT_CONFIRMED: 'PAYMENT_SENT',
  PAYMENT_SENT: 'PAYMENT_CONFIRMED',
} as const;

const completed = {
  story: 'paid, settled by the provider',
  next: PAYING,
  provider: ['SETTLING', 'COMPLETED'],
  callbacks: true,
} as const satisfies Script;

const failed = { ...completed, provider: ['SETTLING', 'FAILED'], refund: 'begun' } as const satisfies Script;

/** Every way a bridge deposit can go, as data. `advance()` in `lifecycle.ts` reads it. */
export const BRIDGE_ENDINGS = {
  completed,
  'failed-then-refunded': {
    ...failed,
    story: 'the provider fails with a refund begun; one step later the service reports REFUNDED',
    next: { ...PAYING, FAILED: 'REFUNDED' },
  },
  'failed-no-refund': {
    ...failed,
    story: 'the provider fails with a refund announced that never comes: the integrator must refund by itself',
    refund: 'announced',
  },
  'failed-refund-begun': {
    ...failed,
    story: 'the provider fails with a refund begun, and nothing reports how that ended: a person must look',
  },
  'failed-early': {
    ...completed,
    story: 'FAILED before any crypto was paid; no refund is due',
    next: { DEPOSIT_INITIATED: 'FAILED' },
    provider: [],
  },
  'no-callbacks-ever': {
    ...completed,
    story: 'settled, but the callback URL is never called; the provider still posts',
    callbacks: false,
  },
  'no-settlement-ever': {
    ...completed,
    story: 'callbacks up to PAYMENT_CONFIRMED, then the provider never posts',
    provider: [],
  },
  silent: {
    ...completed,
    story: 'neither a callback nor a settlement, ever',
    callbacks: false,
    provider: [],
  },
  slow: { ...completed, story: 'as completed, every step twenty times as long', slow: true },
  'statuses-by-callback-only': {
    ...completed,
    story: "the service's callbacks carry all five statuses through COMPLETED; the provider posts nothing",
    next: { ...PAYING, PAYMENT_CONFIRMED: 'SETTLING', SETTLING: 'COMPLETED' },
    provider: [],
  },
  'completed-then-refunded': {
    ...completed,
    story: 'a contradiction: settled, and one step later REFUNDED as well',
    next: { ...PAYING, COMPLETED: 'REFUNDED' },
  },
  'mismatching-amount': {
    ...completed,
    story: "the provider's COMPLETED has another amount than the deposit",
    mismatchingAmount: true,
  },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
  'rate-expired': {
    ...completed,
    story: 'refused with 400 "Rate Expired" once (`times`: so often), then as completed',
    refuses: 'rate-expired',
  },
} as const satisfies Record<string, Script>;

export type BridgeEnding = keyof typeof BRIDGE_ENDINGS;
export const bridgeEndings = Object.keys(BRIDGE_ENDINGS) as [BridgeEnding, ...BridgeEnding[]];
export const scriptOf = (ending: BridgeEnding): Script => BRIDGE_ENDINGS[ending];

/** The two decimals of a deposit's source amount choose its ending, if no scenario was set for its reference. */
export const BRIDGE_MAGIC_AMOUNTS: Readonly<Record<string, BridgeEnding>> = {
  '.11': 'statuses-by-callback-only',
  '.13': 'failed-then-refunded',
  '.14': 'failed-no-refund',
  '.15': 'failed-early',
  '.16': 'no-callbacks-ever',
  '.17': 'no-settlement-ever',
  '.18': 'silent',
  '.19': 'slow',
  '.21': 'completed-then-refunded',
  '.22': 'mismatching-amount',
  '.23': 'failed-refund-begun',
  '.41': 'rejected',
  '.42': 'insufficient-funds',
  '.43': 'rate-expired',
};

/** Inputs of a deposit: its time has come, or a settlement report arrived. */
export type BridgeInput =
  { readonly kind: 'time'; readonly from: BridgeStatus } | { readonly kind: 'report'; readonly status: BridgeStatus };

/**
 * The status after `input`; undefined if nothing changes. Pure. By the interface a settlement webhook moves "any"
 * status to "the status value carried in the body"; time moves only as the script says, and only from the status that
 * it was set for (a report may have come first).
 */
export function advance(script: Script, status: BridgeStatus, input: BridgeInput): BridgeStatus | undefined {
  switch (input.kind) {
    case 'time':
      return input.from === status ? script.next[status] : undefined;
    case 'report':
      return input.status === status ? undefined : input.status;
    default:
      return input satisfies never;
  }
}
