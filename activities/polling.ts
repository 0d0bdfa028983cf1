import { Context } from '@temporalio/activity';

/** Slower and slower: soon after the start things change, an hour later they hardly do. Milliseconds, unscaled. */
const CADENCE_MS: readonly number[] = [2_000, 5_000, 15_000, 60_000];
const SLOWEST_MS = 300_000;
const TURNS_PER_STEP = 4;

/** How long to wait before the next try of this activity. */
export function nextTurnMs(timeScale: number): number {
  const step = Math.floor((Context.current().info.attempt - 1) / TURNS_PER_STEP);
  const delayMs = CADENCE_MS[step] ?? SLOWEST_MS;
  return Math.max(20, delayMs * timeScale);
}

/** Since this activity was first scheduled, by the Temporal server's clock alone; ms. */
export function elapsedMs(): number {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return currentAttemptScheduledTimestampMs - scheduledTimestampMs;
}
