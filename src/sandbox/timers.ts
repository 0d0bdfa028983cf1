export const systemTimers: Timers = {
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  soon(work) {
    const immediate = setImmediate(work);
    return () => clearImmediate(immediate);
  },
};

/** The sandbox's timers; passed in, so that a test may run it on its own clock. */
export interface Timers {
  /** Runs `work` once after this many milliseconds; the returned function cancels that. */
  after(ms: number, work: () => void): () => void;
  /** Runs `work` in the next turn of the event loop; the function it gives stops that. */
  soon(work: () => void): () => void;
}
