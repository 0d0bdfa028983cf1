import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  ContractBrokenError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
} from '../src/service-client/index.js';
import { StoreUnavailableError } from '../src/store/store-errors.js';

/*
 * The one table from what went wrong to what Temporal does about it. Retry happens in Temporal alone: what may be tried
 * again is thrown as a retryable failure (with the service's own delay, where it gave one), the rest is nonRetryable.
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

/** Not yet: an ordinary turn of polling, which is no failure to anybody. */
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

/** For reads, quotes and reports: what our own errors mean to Temporal. Anything unknown stays what it is. */
export function readFailure(error: unknown): unknown {
  if (error instanceof RateLimitedError) return retryLater('rate_limited', error.message, error.retryAfterMs);
  if (error instanceof NotSentError) return retryLater('not_sent', error.message);
  if (error instanceof ServiceUnavailableError) return retryLater('service_unavailable', error.message);
  if (error instanceof ContractBrokenError) return retryLater('contract_broken', error.message);
  if (error instanceof StoreUnavailableError) return retryLater('store_unavailable', error.message);
  if (error instanceof InvalidRequestError) return endsFlow('invalid_input', error.message);
  return error;
}

/** Runs a read; failures are already what Temporal should do. A refusal comes back as itself, for the caller to judge. */
export async function reading<T>(read: () => Promise<T>): Promise<T | RejectedError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RejectedError) return error;
    throw readFailure(error);
  }
}

/** Runs what the store alone does: its failure is retried by Temporal. */
export async function storing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw readFailure(error);
  }
}
