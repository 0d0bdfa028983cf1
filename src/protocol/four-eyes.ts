import { PARK_ACTIONS } from './vocabulary.js';

/** Which orders need a second person. */
export interface FourEyes {
  readonly actions: readonly string[];
  /** Quotes of more than that, by currency or token in capitals, are approved by two; others by one. */
  readonly above: ReadonlyMap<string, string>;
}

export const APPROVE_QUOTE = 'approve-quote';
/** To vouch for an event, by its replay. */
export const TRUST_EVENT = 'trust-event';

/** What `FOUR_EYES` may name. */
export const FOUR_EYES_ACTIONS: readonly string[] = [...new Set([...Object.values(PARK_ACTIONS).flat(), TRUST_EVENT])];

/** A person's word that can have money sent twice, or calls money moved or not moved against no proof. */
export const FOUR_EYES_BY_DEFAULT: readonly string[] = [
  'send-again',
  'mark-completed',
  'mark-failed',
  'mark-refunded',
  'refund-now',
];

export const NO_FOUR_EYES: FourEyes = { actions: [], above: new Map() };
