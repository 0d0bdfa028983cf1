/**
 * One after the other, each in a turn of the event loop of its own: so that several pieces of work that arrive together
 * do not keep everything else waiting for all of them.
 */
export function createTurns(): (work: () => void) => void {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    const work = waiting.shift();
    if (work === undefined) return;
    // Before the work, which may throw: those behind it must not wait for ever.
    if (waiting.length > 0) setImmediate(next);
    work();
  };
  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) setImmediate(next);
  };
}
