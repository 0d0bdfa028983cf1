import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  ContractBrokenError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  TurnedAwayError,
} from '../src/service-client/index.js';
import { StoreUnavailableError } from '../src/store/store-errors.js';

/*
 * The one table from errors to what Temporal does about them. Only Temporal retries: an error that may be retried is
 * thrown as a retryable failure (with the service's own delay, if it gave one), every other error as nonRetryable.
 */

/** Try again by the policy of the activity, or after `delayMs`. */
export function retryLater(type: string, message: string, delayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: false,
    ...(delayMs === undefined ? {} : { nextRetryDelay: Math.max(1, Math.ceil(delayMs)) }),
  });
}

/**
 * What runs within a workflow task has the ordinary activity to fall back on: there it is no failure that anybody has to
 * read about in the log.
 */
export async function withFallback<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.nonRetryable || !Context.current().info.isLocal) throw error;
    const { message, type, details, nextRetryDelay } = error;
    throw ApplicationFailure.create({
      message,
      ...(type == null ? {} : { type }),
      ...(details == null ? {} : { details }),
      ...(nextRetryDelay == null ? {} : { nextRetryDelay }),
      category: ApplicationFailureCategory.BENIGN,
    });
  }
}

/** Not yet: an ordinary turn of polling, not an error. */
export function notYet(message: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'not_yet',
    message,
    nonRetryable: false,
    nextRetryDelay: Math.max(1, Math.ceil(delayMs)),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Never again with these arguments: ends the flow with this reason. */
export function endsFlow(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** Runs a check that asks nothing outside: what it throws would come again at every retry, and is a verdict. */
export function checking<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof ApplicationFailure ? error : endsFlow('invalid_input', 'it cannot be checked');
  }
}

/** Try again after the service's own delay, if it gave one. */
export function turnedAway(error: TurnedAwayError): ApplicationFailure {
  const delayMs = error instanceof RateLimitedError ? error.retryAfterMs : undefined;
  return retryLater(error.reason === 'unauthorized' ? 'unauthorized' : 'rate_limited', error.message, delayMs);
}

/** For reads, quotes and reports: translates our own errors for Temporal. Any other error stays as it is. */
export function readFailure(error: unknown): unknown {
  if (error instanceof TurnedAwayError) return turnedAway(error);
  if (error instanceof NotSentError) return retryLater('not_sent', error.message);
  if (error instanceof ServiceUnavailableError) return retryLater('service_unavailable', error.message);
  if (error instanceof ContractBrokenError) return retryLater('contract_broken', error.message);
  if (error instanceof StoreUnavailableError) return retryLater('store_unavailable', error.message);
  if (error instanceof InvalidRequestError) return endsFlow('invalid_input', error.message);
  return error;
}

/** Runs a read and translates its failures for Temporal. A refusal is returned, so that the caller can judge it. */
export async function reading<T>(read: () => Promise<T>): Promise<T | RejectedError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RejectedError) return error;
    throw readFailure(error);
  }
}

/** Runs a step that needs only the store: Temporal retries its failure. */
export async function storing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw readFailure(error);
  }
}

/** A webhook may belong to this flow: nothing is sent, ordered or ended before that is known. */
export const unmatched = (): ApplicationFailure =>
  retryLater('not_sent', 'a webhook under its reference is yet to be matched, and may say that it is done');
