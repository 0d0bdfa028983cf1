import type { Effect } from '../contract/operation.js';

/** Why the outcome of a request that was sent, or may have been, cannot be told. */
export type DoubtReason =
  | 'timeout'
  | 'cancelled'
  | 'connection-lost'
  | 'answer-too-large'
  | 'redirect'
  | 'http-status'
  | 'unreadable-body'
  | 'wrong-shape'
  | 'no-reason'
  | 'contradictory';

/** What the HTTP status alone says. `body`: a 2xx, whose body decides. */
export type StatusMeaning = 'body' | 'rejected' | 'duplicate' | 'unauthorized' | 'rate-limited' | 'doubt';

/**
 * "What an answer means", of DESIGN.md: the status is judged first, and what is not named here is doubt (3xx, 408, 5xx
 * even with a body that says "failed", 410, 418, …). 401 and 429 are given before a request is taken.
 */
const BY_STATUS: Readonly<Record<number, StatusMeaning>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'rejected',
  404: 'rejected',
  409: 'duplicate',
  422: 'rejected',
  429: 'rate-limited',
};

export function meaningOfStatus(httpStatus: number): StatusMeaning {
  if (httpStatus >= 200 && httpStatus <= 299) return 'body';
  return BY_STATUS[httpStatus] ?? 'doubt';
}

/** What doubt means, by effect. `unknown`: must not be repeated. `unavailable`: may be. */
export const DOUBT_MEANS = {
  money: 'unknown',
  // Making a key, an account or a secret twice is no loss of money, but a person should look first.
  account: 'unknown',
  read: 'unavailable',
  quote: 'unavailable',
  report: 'unavailable',
} as const satisfies Record<Effect, 'unknown' | 'unavailable'>;
