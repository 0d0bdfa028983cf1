/** How fast events come in: whoever has other work to do can make room for them. */
export interface Arrivals {
  note(): void;
  /** Events a second, of the last moments. */
  perSecond(): number;
  /** They come faster than they could be signalled one by one: to take them comes before all other work. */
  isRush(): boolean;
}

const RUSH_PER_SECOND = 300;

/** Short: a rush is known by its first few events. */
const WINDOW_MS = 50;

export function createArrivals(nowMs: () => number = () => performance.now()): Arrivals {
  let startedAt = -Infinity;
  let before = 0;
  let count = 0;
  const turn = (now: number): void => {
    if (now - startedAt < WINDOW_MS) return;
    before = now - startedAt < 2 * WINDOW_MS ? count : 0;
    count = 0;
    startedAt = now;
  };
  const arrivals: Arrivals = {
    note() {
      turn(nowMs());
      count += 1;
    },
    perSecond() {
      const now = nowMs();
      turn(now);
      // What is left of the window before counts for the part of this one that has not begun.
      const left = 1 - (now - startedAt) / WINDOW_MS;
      return ((count + before * left) / WINDOW_MS) * 1_000;
    },
    isRush: () => arrivals.perSecond() >= RUSH_PER_SECOND,
  };
  return arrivals;
}
