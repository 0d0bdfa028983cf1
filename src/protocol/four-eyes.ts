import type { ParkAction } from './vocabulary.js';

/** Which orders need a second person. */
export interface FourEyes {
  readonly actions: readonly string[];
  /** Quotes of more than that, by currency or token in capitals, are approved by two; others by one. */
  readonly above: ReadonlyMap<string, string>;
}

export const APPROVE_QUOTE = 'approve-quote';
/** To vouch for an event, by its replay. */
export const TRUST_EVENT = 'trust-event';

/**
 * How many persons an order needs unless `FOUR_EYES` says otherwise, and why: two, if a word can end a flow, stands in for proof, or
 * sets it aside.
 */
export const PERSONS_BY_DEFAULT = {
  'send-again': { persons: 2, why: 'can have money sent twice' },
  'refund-now': { persons: 2, why: 'sends money, which the service may refund as well' },
  'mark-completed': { persons: 2, why: 'ends the flow without proof' },
  'mark-failed': { persons: 2, why: 'ends the flow without proof, whereupon its caller may pay again' },
  'mark-refunded': { persons: 2, why: 'ends the flow without proof' },
  'close-not-executed': { persons: 2, why: 'says that no money moved, whereupon its caller may pay again' },
  'close-without-refund': { persons: 2, why: 'gives up money that may be owed' },
  'trust-settlement': {
    persons: 2,
    why: 'stands in for the proof of a settlement, which ends the flow or lets a refund go',
  },
  [TRUST_EVENT]: { persons: 2, why: 'vouches for any event by its replay, to the same effect' },
  'accept-event': { persons: 2, why: 'takes an event that differs from what was paid, which may end the flow' },
  'dismiss-event': { persons: 2, why: 'sets aside what is proven' },
  'report-again': { persons: 1, why: 'reports once more what is proven' },
  'keep-waiting': { persons: 1, why: 'sends nothing and ends nothing' },
  'confirm-handed-over': { persons: 1, why: 'sends nothing and ends nothing: the flow waits for the refund' },
} as const satisfies Readonly<
  Record<ParkAction | typeof TRUST_EVENT, { readonly persons: 1 | 2; readonly why: string }>
>;

/** What `FOUR_EYES` may name. */
export const FOUR_EYES_ACTIONS: readonly string[] = Object.keys(PERSONS_BY_DEFAULT);

export const FOUR_EYES_BY_DEFAULT: readonly string[] = Object.entries(PERSONS_BY_DEFAULT)
  .filter(([, { persons }]) => persons === 2)
  .map(([action]) => action);

export const NO_FOUR_EYES: FourEyes = { actions: [], above: new Map() };
