import { isGrpcServiceError } from '@temporalio/client';

/** gRPC's status codes that we tell apart. */
export const GRPC = { notFound: 5, permissionDenied: 7, unimplemented: 12 } as const;

/** The status code of what a Temporal call threw; undefined for anything else. */
export function grpcStatusOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
