import { Context } from '@temporalio/activity';

/** Well under the heartbeat timeout of a submit (10 s), so that one late beat does not look like a dead worker. */
const BEAT_MS = 2_500;

/** Beats while the work runs, so that another worker asks soon after this one died. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
