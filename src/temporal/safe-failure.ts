import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';

/** An error's name is shown, unless it contains more than a name. */
const SAFE_NAME = /^[A-Z][A-Za-z]{0,40}Error$/;

/**
 * An error of an activity ends up in histories and logs, and an error of a library may carry a token, a header or a
 * body. So every error is rebuilt: ours keep name and message, all others only their name and code. Causes are dropped.
 */
function safeFailure(error: unknown, ownErrors: readonly string[]): unknown {
  // The SDK's own signals, which do not mean "it failed".
  if (error instanceof CancelledFailure || error instanceof CompleteAsyncError) return error;
  if (error instanceof ApplicationFailure) return withoutCause(error);
  const name = error instanceof Error && SAFE_NAME.test(error.name) ? error.name : 'UnknownError';
  const own = error instanceof Error && ownErrors.includes(name);
  const code = (error as { code?: unknown } | null)?.code;
  const coded = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : '';
  return ApplicationFailure.create({
    type: name,
    message: own ? error.message : `${name}${coded} in an activity; its details are not shown`,
    nonRetryable: false,
  });
}

function withoutCause(failure: ApplicationFailure): ApplicationFailure {
  return ApplicationFailure.create({
    message: failure.message,
    type: failure.type ?? 'ApplicationFailure',
    nonRetryable: failure.nonRetryable ?? false,
    details: failure.details ?? [],
    ...(failure.nextRetryDelay == null ? {} : { nextRetryDelay: failure.nextRetryDelay }),
    ...(failure.category == null ? {} : { category: failure.category }),
  });
}

/** Errors of ours, whose messages contain names of members and operations, and no values. */
const OWN_ERRORS = [
  'BaseUrlError',
  'ContractBrokenError',
  'DuplicateReferenceError',
  'InvalidRequestError',
  'NotSentError',
  'RateLimitedError',
  'ServiceUnavailableError',
  'StoreRequestError',
  'StoreTooNewError',
  'StoreUnavailableError',
  'TurnedAwayError',
  'UnknownOutcomeError',
  'UnsafeAmountError',
] as const;

/** Rebuilds an activity's error, before the SDK logs it or writes it to the history. */
export const safeFailures: ActivityInterceptorsFactory = () => {
  const inbound: ActivityInboundCallsInterceptor = {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw safeFailure(error, OWN_ERRORS);
      }
    },
  };
  return { inbound };
};
