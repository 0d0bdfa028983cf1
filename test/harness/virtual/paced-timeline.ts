import { createTimeline, type Planned, type Timeline } from '../../sim/core/timeline.js';

/** Real time, until a test lets it be skipped: then it jumps to what is due next. */
export interface PacedTimeline extends Timeline {
  /** Lets this many milliseconds pass: at once, except for what is busy meanwhile. */
  pass(ms: number): Promise<void>;
  /** Until `wanted` has settled, time is skipped. */
  skipUntil<T>(wanted: Promise<T>): Promise<T>;
  /** While it is busy, no time is skipped. */
  whileBusy<T>(work: () => Promise<T>): Promise<T>;
  /** No more work is begun; what broke meanwhile is thrown. */
  close(): Promise<void>;
}

/** A leap: nothing that is under way is planned so far ahead; ms. */
const LEAP_MS = 60_000;

/**
 * Planned work runs one after the other.
 * @param broken called with an error that work throws
 * @param underWay what must come before a jump: then there is none, and `broken` is called
 */
export function createPacedTimeline(
  broken: (error: unknown) => void,
  underWay: () => readonly string[] = () => [],
): PacedTimeline {
  const inner = createTimeline(Date.now());
  const startedAtMs = Date.now() - performance.now();
  let skippedMs = 0;
  let busy = 0;
  let skippers = 0;
  let isClosed = false;
  /** Something changed while a turn was about to end. */
  let isDueAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const nowMs = (): number => startedAtMs + performance.now() + skippedMs;

  /** Runs all that is due, and plans the next turn. */
  function turn(): void {
    isDueAgain = true;
    if (isClosed || running !== undefined) return;
    clearTimeout(timer);
    isDueAgain = false;
    // Not begun before `running` is set: what is due plans more, and must not start a second drain beside this one.
    running = Promise.resolve()
      .then(drain)
      .finally(() => {
        running = undefined;
        if (isDueAgain) turn();
        else comeBack();
      });
  }

  async function drain(): Promise<void> {
    for (;;) {
      const work = isClosed ? undefined : inner.next(nowMs());
      if (work !== undefined) {
        try {
          await work();
        } catch (error) {
          broken(error);
        }
        continue;
      }
      if (skippers === 0 || isClosed) return;
      // The latest event has consequences first: they take a turn of the event loop.
      const before = inner.activity;
      await new Promise(setImmediate);
      if (busy > 0) return;
      if (inner.activity !== before) continue;
      const nextMs = inner.nextAtMs();
      if (nextMs === undefined) return;
      const leapMs = nextMs - nowMs();
      const first = leapMs > LEAP_MS ? underWay() : [];
      if (first.length > 0) return broken(new Error(`time would leap ${leapMs} ms over ${first.join(', ')}`));
      skippedMs += Math.max(0, leapMs);
    }
  }

  function comeBack(): void {
    const nextMs = inner.nextAtMs();
    if (isClosed || nextMs === undefined) return;
    if (nextMs <= nowMs()) return turn();
    clearTimeout(timer);
    timer = setTimeout(turn, Math.min(nextMs - nowMs(), 2 ** 30));
  }

  const at = (atMs: number, work: () => unknown, daemon?: boolean): Planned => {
    const planned = inner.at(atMs, work, daemon);
    if (running === undefined) (skippers > 0 ? turn : comeBack)();
    return planned;
  };

  async function skipUntil<T>(wanted: Promise<T>): Promise<T> {
    skippers += 1;
    turn();
    try {
      return await wanted;
    } finally {
      skippers -= 1;
    }
  }

  return {
    get nowMs() {
      return nowMs();
    },
    get activity() {
      return inner.activity;
    },
    at,
    in: (ms, work, daemon) => at(nowMs() + Math.max(0, ms), work, daemon),
    noteActivity: () => inner.noteActivity(),
    next: (untilMs) => inner.next(untilMs),
    nextAtMs: () => inner.nextAtMs(),
    hasWork: () => inner.hasWork(),
    pass: (ms) => skipUntil(new Promise<void>((resolve) => void at(nowMs() + ms, resolve))),
    skipUntil,
    async whileBusy(work) {
      busy += 1;
      try {
        return await work();
      } finally {
        busy -= 1;
        // After its caller has reported the result.
        if (busy === 0) setImmediate(turn);
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
