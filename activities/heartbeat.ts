import { Context } from '@temporalio/activity';
import { every, systemClock, type Clock } from '../src/clock.js';

/** Beats in a heartbeat timeout, so that one late beat does not look like a dead worker. */
const BEATS = 4;
const DEFAULT_TIMEOUT_MS = 10_000;

/** Beats while the work runs, so that another worker asks soon after this one died. */
export async function withHeartbeat<T>(clock: Clock | undefined, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const everyMs = (context.info.heartbeatTimeoutMs ?? DEFAULT_TIMEOUT_MS) / BEATS;
  const stop = every(clock ?? systemClock, everyMs, () => context.heartbeat());
  try {
    return await work();
  } finally {
    stop();
  }
}
