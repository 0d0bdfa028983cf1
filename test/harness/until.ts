import { setTimeout as sleep } from 'node:timers/promises';

/** What takes this long on a busy machine does not come. */
export const PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Polls until there is an answer other than undefined or false, with growing pauses, and returns it.
 *
 * @param what for the error: "waited 60000 ms in vain for {what}"
 */
export async function until<T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = PATIENCE_MS,
  longestPauseMs = LONGEST_PAUSE_MS,
): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAtMs) {
      throw new Error(`waited ${withinMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(pauseMs);
  }
}
