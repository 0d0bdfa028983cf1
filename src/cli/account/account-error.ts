import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  UnknownOutcomeError,
} from '../../client/index.js';
import { CliError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';

/** Whether the service has certainly not done it. */
export function wasNotDone(error: unknown): boolean {
  return error instanceof NotSentError || error instanceof InvalidRequestError || error instanceof RejectedError;
}

/**
 * What went wrong with an account operation, which was tried once, as a sentence that says what to do.
 * @param check what to look at before it is tried again, where the outcome is unknown
 */
export function accountError(error: unknown, check: string): unknown {
  if (error instanceof RateLimitedError) {
    const wait = error.retryAfterMs === undefined ? '' : `, in ${Math.ceil(error.retryAfterMs / 1_000)} s`;
    return new CliError(`The service takes no more requests now. Nothing was done: try again later${wait}.`);
  }
  if (error instanceof NotSentError) return notSent(error);
  if (error instanceof InvalidRequestError) {
    const lines = error.problems.map(({ path, problem }) => `  ${path || 'the input'}: ${problem}`);
    return new CliError(['The input is not what the service takes. Nothing was sent.', ...lines].join('\n'));
  }
  if (error instanceof RejectedError) {
    const members = error.fields.length === 0 ? '' : ` Look at ${error.fields.join(', ')}.`;
    return new CliError(`The service refused it (${error.httpStatus}): ${error.message.replace(/\.$/, '')}.${members}`);
  }
  if (error instanceof DuplicateReferenceError) {
    return new CliError(`The service says that it has this already (HTTP ${error.httpStatus}). ${check}`);
  }
  if (error instanceof UnknownOutcomeError) {
    const status = error.httpStatus === undefined ? '' : `, HTTP ${error.httpStatus}`;
    return new CliError(
      `It cannot be told whether the service did it (${error.reason}${status}). It is not tried again. ${check}`,
      EXIT.parked,
    );
  }
  return error;
}

function notSent({ reason }: NotSentError): CliError {
  if (reason === 'unauthorized' || reason === 'token') {
    const why = reason === 'token' ? 'There is no token that can be sent' : 'The service refused the token';
    return new CliError(`${why}. Nothing was done: set SERVICE_TOKEN (or SERVICE_TOKEN_FILE) to a valid one.`);
  }
  return new CliError(`The service cannot be reached (${reason}). Nothing was sent.`, EXIT.unreachable);
}
