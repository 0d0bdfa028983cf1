import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import { safeFailure } from './safe-failure.js';

/** Errors of ours, whose messages hold names of members and operations, and no values. */
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
  'TokenFileError',
  'UnknownOutcomeError',
  'UnsafeAmountError',
] as const;

/** Rebuilds what an activity throws, before the SDK logs it or writes it to the history. */
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
