/** Time as a part of the product sees it; passed in, so that a test may run days in a second. */
export interface Clock {
  /** Milliseconds since 1970; may be set back and forth. */
  readonly nowMs: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicMs: () => number;
  /** Runs `work` once after this many milliseconds; the returned function cancels that. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** ISO 8601, in UTC. */
export const isoTime = (clock: Clock): string => new Date(clock.nowMs()).toISOString();

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** The pause before a retry: twice as long as the one before, up to a limit. @param retries that were made before */
export const growingPauseMs = (firstMs: number, mostMs: number, retries: number): number =>
  Math.min(mostMs, firstMs * 2 ** retries);

/** Runs `work` repeatedly, this many milliseconds apart; the returned function stops that. */
export function every(clock: Clock, ms: number, work: () => void): () => void {
  const turn = (): void => {
    stop = clock.after(ms, turn);
    work();
  };
  let stop = clock.after(ms, turn);
  return () => stop();
}

/** Work that a process does again and again, one round at a time. */
export interface Rounds {
  /** At once, and repeatedly from then on. */
  start(): void;
  /** One round now, or the one that is under way. */
  now(): Promise<void>;
  /** Resolves when no round is under way any more. */
  stop(): Promise<void>;
}

/** @param round never rejects */
export function createRounds(clock: Clock, everyMs: number, round: () => Promise<void>): Rounds {
  let running: Promise<void> | undefined;
  let stopTicking: (() => void) | undefined;
  const now = (): Promise<void> =>
    (running ??= round().finally(() => {
      running = undefined;
    }));
  return {
    start() {
      stopTicking = every(clock, everyMs, () => void now());
      void now();
    },
    now,
    async stop() {
      stopTicking?.();
      await running;
    },
  };
}
