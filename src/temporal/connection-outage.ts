import { isGrpcServiceError } from '@temporalio/client';
import { StoreUnavailableError } from '../store/store-errors.js';

/** gRPC codes that blame the one request; everything else (unavailable, deadline, exhausted, …) is about the server. */
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const OUT_OF_RANGE = 11;
const OF_THE_REQUEST = new Set([INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE]);

/** Whether everybody else's requests would fail, too. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && !OF_THE_REQUEST.has(cause.code);
}
