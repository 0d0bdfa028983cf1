export { BaseUrlError } from './connection.js';
export {
  ContractBrokenError,
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  TurnedAwayError,
  UnknownOutcomeError,
} from './errors.js';
export { checkRequest } from './prepare.js';
export { createServiceClient } from './service-client.js';
export type {
  CallOptions,
  RelayedAnswer,
  ServiceAnswer,
  ServiceClient,
  ServiceClientOptions,
} from './service-client.js';
