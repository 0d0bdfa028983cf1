const MAX_HINT_MS = 3_600_000;
const PLAIN_NUMBER = /^\d{1,13}(\.\d{1,3})?$/;

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
    secondsOrDate(headers['retry-after'], nowMs) ??
    seconds(inBody) ??
    reset(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], nowMs);
  return hint === undefined ? undefined : Math.min(Math.max(Math.ceil(hint), 0), MAX_HINT_MS);
}

const seconds = (value: unknown): number | undefined =>
  (typeof value === 'string' || typeof value === 'number') && PLAIN_NUMBER.test(String(value).trim())
    ? Number(value) * 1_000
    : undefined;

function secondsOrDate(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  // `Date.parse` accepts "-5" and "soon 1" as dates: only HTTP's form, which names a month, counts.
  const atMs = /^[A-Za-z]{3,9},? .*\d{4}.*GMT$/.test(value) ? Date.parse(value) : NaN;
  return seconds(value) ?? (Number.isNaN(atMs) ? undefined : atMs - nowMs);
}

function reset(value: string | undefined, nowMs: number): number | undefined {
  const fromNowMs = seconds(value);
  if (fromNowMs === undefined) return undefined;
  const count = fromNowMs / 1_000;
  if (count > 1e11) return count - nowMs;
  return count > 1e8 ? fromNowMs - nowMs : fromNowMs;
}

/** The members of a body, or of a part of it; none if it is no object. */
export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
