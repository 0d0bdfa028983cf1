export interface Slots {
  /** Runs when one of the slots is free: first come, first served. */
  within<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** At most so many at once. */
export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async within(work) {
      if (taken < most) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot is handed on, so that nobody who asks meanwhile gets in between.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
}
