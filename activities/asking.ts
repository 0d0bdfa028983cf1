import {
  ContractBrokenError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
} from '../src/client/index.js';
import { readFailure } from './failures.js';

/** A lookup's answer, by the three answers that there are. Nothing else makes evidence of what the service says. */
export type Asked<T> =
  | { readonly says: 'shown'; readonly record: T }
  | { readonly says: 'absent' }
  /** `refused`: by the service itself; else it could not be reached, or was not understood. */
  | { readonly says: 'cannot-tell'; readonly why: string; readonly refused: boolean; readonly afterMs?: number };

/**
 * Asks the service. Only its own "not found" is an absence: a refusal, a 404 that no service wrote, an error and an
 * unreadable body tell nothing. Throws what no repetition could mend, and failures that are not the service's.
 */
export async function asking<T>(lookup: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { says: 'shown', record: await lookup() };
  } catch (error) {
    if (error instanceof RejectedError) {
      if (error.isNotFound) return { says: 'absent' };
      return { says: 'cannot-tell', why: `the status lookup was refused (${error.httpStatus})`, refused: true };
    }
    if (!isOfTheService(error)) throw readFailure(error);
    const afterMs = error instanceof RateLimitedError ? error.retryAfterMs : undefined;
    return { says: 'cannot-tell', why: error.message, refused: false, ...(afterMs === undefined ? {} : { afterMs }) };
  }
}

const isOfTheService = (error: unknown): error is Error =>
  error instanceof NotSentError || error instanceof ServiceUnavailableError || error instanceof ContractBrokenError;
