import {
  ContractBrokenError,
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  UnknownOutcomeError,
} from '../../client/index.js';
import { Refusal } from '../http/refusal.js';

const RETRY_AFTER_SECONDS = 5;

/** What an error of the service client is to a caller of the proxy. Anything else is thrown on. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof InvalidRequestError) {
    const errors = error.problems.map(({ path, problem }) => ({ path, message: problem }));
    return new Refusal(400, 'The request is not what the interface says; nothing was sent.', { errors });
  }
  if (error instanceof RejectedError) {
    const errors = error.fields.map((path) => ({ path, message: 'is named by the service' }));
    return new Refusal(error.httpStatus, error.message, {
      ...(errors.length === 0 ? {} : { errors }),
      ...(error.code === undefined ? {} : { code: error.code }),
    });
  }
  if (error instanceof RateLimitedError) {
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? RETRY_AFTER_SECONDS * 1_000) / 1_000));
    return new Refusal(429, 'The service takes no more requests for now; nothing was sent.', {}, seconds);
  }
  if (error instanceof NotSentError) {
    if (error.reason === 'unauthorized' || error.reason === 'token') {
      return new Refusal(502, 'The service does not take the token of this gateway: mend SERVICE_TOKEN.');
    }
    return new Refusal(503, `The service cannot be reached (${error.reason}). Try again.`, {}, RETRY_AFTER_SECONDS);
  }
  if (error instanceof DuplicateReferenceError) return new Refusal(409, 'The service says that it exists already.');
  if (error instanceof UnknownOutcomeError) {
    const why = `the answer is missing or unreadable: ${error.reason}`;
    return new Refusal(502, `Whether the service did it is unknown (${why}). Look before you repeat it.`);
  }
  if (error instanceof ServiceUnavailableError) {
    return new Refusal(502, `The service gave no usable answer (${error.reason}). Try again.`, {}, RETRY_AFTER_SECONDS);
  }
  if (error instanceof ContractBrokenError) {
    return new Refusal(502, 'The answer of the service is not what its interface says.');
  }
  throw error;
}
