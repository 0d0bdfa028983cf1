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
 * How many persons an order needs unless `FOUR_EYES` says otherwise, and why: two if the order can end a flow, or
 * replaces or overrides proof.
 */
export const PERSONS_BY_DEFAULT = {
  'send-again': { persons: 2, why: 'can send money twice' },
  'refund-now': { persons: 2, why: 'sends money that the service may also refund' },
  'mark-completed': { persons: 2, why: 'ends the flow without proof' },
  'mark-failed': { persons: 2, why: 'ends the flow without proof, after which its caller may pay again' },
  'mark-refunded': { persons: 2, why: 'ends the flow without proof' },
  'close-not-executed': { persons: 2, why: 'says that no money moved, after which its caller may pay again' },
  'close-without-refund': { persons: 2, why: 'gives up money that may be owed' },
  'trust-settlement': {
    persons: 2,
    why: 'replaces the proof of a settlement, which ends the flow or allows a refund',
  },
  [TRUST_EVENT]: {
    persons: 2,
    why: 'vouches for any event, or says which flow a proven one is about: the same effect',
  },
  'accept-event': { persons: 2, why: 'takes an event that differs from what was paid, which may end the flow' },
  'dismiss-event': { persons: 2, why: 'overrides what is proven' },
  'report-again': { persons: 1, why: 'reports once more what is proven' },
  'keep-waiting': { persons: 1, why: 'sends nothing and ends nothing' },
  resume: { persons: 1, why: 'starts the flow again, which decides by its claims: nothing is sent twice' },
  'confirm-handed-over': { persons: 1, why: 'sends nothing and ends nothing: the flow waits for the refund' },
} as const satisfies Readonly<
  Record<ParkAction | typeof TRUST_EVENT, { readonly persons: 1 | 2; readonly why: string }>
>;

/** The values of `FOUR_EYES`. */
export const FOUR_EYES_ACTIONS: readonly string[] = Object.keys(PERSONS_BY_DEFAULT);

export const FOUR_EYES_BY_DEFAULT: readonly string[] = Object.entries(PERSONS_BY_DEFAULT)
  .filter(([, { persons }]) => persons === 2)
  .map(([action]) => action);

export const NO_FOUR_EYES: FourEyes = { actions: [], above: new Map() };
