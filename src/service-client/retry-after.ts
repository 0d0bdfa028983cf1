import { readRetryAfter, readSeconds } from '../readers/retry-after.js';

const MAX_HINT_MS = 3_600_000;

/**
 * How long a 429 asks us to wait, in milliseconds, at most one hour; undefined without a hint. In order: the
 * `Retry-After` header (seconds or a date), `data.retryAfter` and `retry_after` of the body (seconds),
 * `X-RateLimit-Reset` (seconds from now, or a time in seconds or milliseconds).
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | undefined>>,
  body: unknown,
  nowMs: number,
): number | undefined {
  const root = asObject(body);
  const data = asObject(root['data']);
  const inBody = data['retryAfter'] ?? data['retry_after'] ?? root['retry_after'] ?? root['retryAfter'];
  const hint =
    readRetryAfter(headers['retry-after'], nowMs) ??
    inMs(readSeconds(inBody)) ??
    reset(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], nowMs);
  return hint === undefined ? undefined : Math.min(Math.max(Math.ceil(hint), 0), MAX_HINT_MS);
}

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000);

function reset(value: string | undefined, nowMs: number): number | undefined {
  const count = readSeconds(value);
  if (count === undefined) return undefined;
  if (count > 1e11) return count - nowMs;
  return count > 1e8 ? count * 1_000 - nowMs : count * 1_000;
}

/** The members of a body, or of a part of it; none if it is no object. */
export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
