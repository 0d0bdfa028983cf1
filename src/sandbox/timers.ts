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

/** How the sandbox waits; passed in, so that a test may run it on a clock of its own. */
export interface Timers {
  /** Runs `work` once after so many milliseconds; the function it gives stops that. */
  after(ms: number, work: () => void): () => void;
  /** Runs `work` in the next turn of the event loop; the function it gives stops that. */
  soon(work: () => void): () => void;
}
