import type { CallableName } from '../contract/index.js';
import type { Effect } from '../contract/operation.js';
import type { NotSentReason } from './not-sent.js';

/*
 * None of these carries a token, a header, a body, a member's value, or another error as its cause: an axios error
 * holds all of them, and the Temporal SDK logs what an activity throws.
 */

/** The request breaks the operation's own schema, or its reference our grammar. Nothing was sent; repeating is useless. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
  readonly operation: CallableName;
  readonly problems: readonly Problem[];
  constructor(operation: CallableName, problems: readonly Problem[]) {
    super(`${operation}: ${problems.map(({ path, problem }) => `${path || 'the request'}: ${problem}`).join('; ')}`);
    this.operation = operation;
    this.problems = problems;
  }
}

/** Proven: nothing left us. It may be sent again. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
  readonly operation: CallableName;
  readonly reason: NotSentReason;
  constructor(operation: CallableName, reason: NotSentReason) {
    super(`${operation}: not sent (${reason})`);
    this.operation = operation;
    this.reason = reason;
  }
}

/**
 * It left, and was answered: turned away before it was executed (401, 429). For money in the service's own words alone.
 * Another send is a repeat.
 */
export class TurnedAwayError extends Error {
  override readonly name: 'TurnedAwayError' | 'RateLimitedError' = 'TurnedAwayError';
  readonly operation: CallableName;
  readonly reason: 'unauthorized' | 'rate-limited';
  constructor(operation: CallableName, reason: 'unauthorized' | 'rate-limited' = 'unauthorized') {
    super(`${operation}: turned away (${reason})`);
    this.operation = operation;
    this.reason = reason;
  }
}

/** 429: too many requests. `retryAfterMs` is the service's hint, if it gave one. */
export class RateLimitedError extends TurnedAwayError {
  override readonly name = 'RateLimitedError';
  readonly retryAfterMs: number | undefined;
  constructor(operation: CallableName, retryAfterMs: number | undefined) {
    super(operation, 'rate-limited');
    this.retryAfterMs = retryAfterMs;
  }
}

/** The service's words about a refusal: bounded, and without anything from the request or the token. */
interface Refusal {
  readonly httpStatus: number;
  /** The service's own text, at most 300 characters; absent if the answer could not be read. */
  readonly message?: string;
  readonly code?: string;
  /** Members at fault, if the service names them. */
  readonly fields: readonly string[];
  readonly isRateExpired: boolean;
  readonly isAboutReference: boolean;
  /** Its words are about a missing record, and not about a missing path. @default false */
  readonly saysNoRecord?: boolean;
}

/**
 * The service refused, in one of its own error bodies: 400, 403, 404, 422, or a 2xx. It did not execute this request;
 * something on the way may have sent it twice.
 */
export class RejectedError extends Error {
  override readonly name = 'RejectedError';
  readonly httpStatus: number;
  readonly code: string | undefined;
  readonly fields: readonly string[];
  /** Whether there is a text of the service. */
  readonly hasReason: boolean;
  /** The quote ran out at the service ("Rate Expired"): quote again. */
  readonly isRateExpired: boolean;
  /** It is about the reference of a binding request: the service may know that reference, so it is looked up first. */
  readonly isAboutReference: boolean;
  /**
   * The service itself knows no such record; for a status lookup this is a miss. A 404 of its router says nothing about
   * the record.
   */
  readonly isNotFound: boolean;
  readonly operation: CallableName;
  constructor(operation: CallableName, refusal: Refusal) {
    super(refusal.message ?? `refused with HTTP ${refusal.httpStatus} and no readable reason`);
    this.operation = operation;
    this.httpStatus = refusal.httpStatus;
    this.code = refusal.code;
    this.fields = refusal.fields;
    this.isRateExpired = refusal.isRateExpired;
    this.isAboutReference = refusal.isAboutReference;
    this.hasReason = refusal.message !== undefined || refusal.code !== undefined;
    this.isNotFound = refusal.httpStatus === 404 && refusal.saysNoRecord === true;
  }
}

/**
 * In one of the service's own bodies: 409, or a word for "duplicate". It knows this reference, and may have executed it,
 * so look it up.
 */
export class DuplicateReferenceError extends Error {
  override readonly name = 'DuplicateReferenceError';
  readonly operation: CallableName;
  readonly httpStatus: number;
  constructor(operation: CallableName, httpStatus: number) {
    super(`${operation}: the service knows this reference already (HTTP ${httpStatus})`);
    this.operation = operation;
    this.httpStatus = httpStatus;
  }
}

/**
 * A money POST (or an account operation) was or may have been sent; its outcome is unknown. Never repeat it blindly.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
  readonly operation: CallableName;
  readonly reason: DoubtReason;
  readonly httpStatus: number | undefined;
  /** What the answer says, for a person's eyes: anything on the way may have written it. At most 300 characters. */
  readonly text: string | undefined;
  constructor(operation: CallableName, reason: DoubtReason, httpStatus?: number, text?: string) {
    super(`${operation}: outcome unknown (${reason}${httpStatus === undefined ? '' : `, HTTP ${httpStatus}`})`);
    this.operation = operation;
    this.reason = reason;
    this.httpStatus = httpStatus;
    this.text = text;
  }
}

/** A read, quote or report got no usable answer. It may be repeated at will. */
export class ServiceUnavailableError extends Error {
  override readonly name = 'ServiceUnavailableError';
  readonly operation: CallableName;
  readonly reason: DoubtReason;
  readonly httpStatus: number | undefined;
  constructor(operation: CallableName, reason: DoubtReason, httpStatus?: number) {
    super(`${operation}: no usable answer (${reason}${httpStatus === undefined ? '' : `, HTTP ${httpStatus}`})`);
    this.operation = operation;
    this.reason = reason;
    this.httpStatus = httpStatus;
  }
}

/** A read succeeded, but its data does not match the contract. Names the members at fault, never their values. */
export class ContractBrokenError extends Error {
  override readonly name = 'ContractBrokenError';
  readonly operation: CallableName;
  readonly paths: readonly string[];
  constructor(operation: CallableName, paths: readonly string[]) {
    super(`${operation}: the answer breaks the contract at ${paths.map((path) => path || 'its root').join(', ')}`);
    this.operation = operation;
    this.paths = paths;
  }
}

/** Why the outcome of a request that was or may have been sent is not known. */
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
  | 'contradictory'
  /** The record is of another reference than the request. */
  | 'other-reference';

/** What doubt means, by effect. `unknown`: must not be repeated. `unavailable`: may be. */
export const DOUBT_MEANS = {
  money: 'unknown',
  // Making a key, an account or a secret twice loses no money, but a person should check first.
  account: 'unknown',
  read: 'unavailable',
  quote: 'unavailable',
  report: 'unavailable',
} as const satisfies Record<Effect, 'unknown' | 'unavailable'>;

/** A member at fault, and what is wrong with it: never its value, which may be a card or a phone number. */
export interface Problem {
  readonly path: string;
  readonly problem: string;
}
