import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, with a deadline. */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 30_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`still not so after ${deadlineMs} ms: ${condition.toString()}`);
    await sleep(5);
  }
}
