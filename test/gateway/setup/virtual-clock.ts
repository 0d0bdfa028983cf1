import type { Clock } from '../../../src/clock.js';

/** All pending microtasks have run. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Time that moves only when the test says so. */
export function virtualClock() {
  let [nowMs, timers] = [0, [] as { at: number; work: () => void }[]];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, work) {
      const timer = { at: nowMs + ms, work };
      timers.push(timer);
      return () => void (timers = timers.filter((one) => one !== timer));
    },
  };
  const pass = async (ms: number) => {
    for (const end = nowMs + ms; ;) {
      await settled();
      const [next] = timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) return void (nowMs = end);
      timers = timers.filter((one) => one !== next);
      nowMs = next.at;
      next.work();
    }
  };
  return { clock, pass };
}
