import { readTime } from '../readers/time.js';

const MAX_DAYS = 90;
const DAY_MS = 86_400_000;
/** A person writes the zone: a time without one may be meant in theirs. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/;

/** Why the time of an order cannot be the flow's new deadline; null if it can, or if the order has none. */
export function untilProblem(
  { action, until }: { readonly action: string; readonly until?: string | undefined },
  nowMs: number,
): string | null {
  if (until === undefined) return null;
  if (action !== 'keep-waiting') return '"until" is possible for keep-waiting only.';
  const atMs = typeof until === 'string' && TIME.test(until) ? readTime(until) : undefined;
  if (atMs === undefined) return '"until" must be a time in UTC, such as 2026-12-01T12:00:00Z.';
  if (atMs <= nowMs) return '"until" must be in the future.';
  return atMs > nowMs + MAX_DAYS * DAY_MS ? `"until" must be at most ${MAX_DAYS} days ahead.` : null;
}
