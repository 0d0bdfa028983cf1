import { DefaultFailureConverter, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';

const failures = new DefaultFailureConverter({ encodeCommonAttributes: true });

export type Failure = temporal.api.failure.v1.IFailure;

/** As in a history; the payload codec is left out here, since nothing depends on it. */
export const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
export const fromPayload = (payload: Payload | null | undefined): unknown =>
  payload == null ? undefined : defaultPayloadConverter.fromPayload(payload);
export const toFailure = (error: unknown): Failure => failures.errorToFailure(error, defaultPayloadConverter);
export const fromFailure = (failure: Failure): Error => failures.failureToError(failure, defaultPayloadConverter);

export const timestamp = (ms: number) => msToTs(Math.floor(ms));

/** Milliseconds of a protobuf duration; undefined if there is none. */
export function durationMs(
  duration: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined,
): number | undefined {
  if (duration == null) return undefined;
  return Number(duration.seconds ?? 0) * 1_000 + (duration.nanos ?? 0) / 1e6;
}
