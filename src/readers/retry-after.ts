import { readHttpDate } from './http-date.js';

/** Cut before any pattern sees it. */
const MOST_CHARACTERS = 40;
const PLAIN_NUMBER = /^\d{1,13}(?:\.\d{1,3})?$/;

/**
 * The header `Retry-After`: seconds, or a date in the three forms of HTTP. In milliseconds from now; 0 for a date that is
 * over. Never throws.
 *
 * @returns undefined if it says neither
 */
export const readRetryAfter = (value: unknown, nowMs: number): number | undefined => {
  const seconds = readSeconds(value);
  if (seconds !== undefined) return seconds * 1_000;
  const atMs = readHttpDate(value, nowMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
};

/** A number of seconds, as a number or text. */
export function readSeconds(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  return text.length <= MOST_CHARACTERS && PLAIN_NUMBER.test(text.trim()) ? Number(text) : undefined;
}
