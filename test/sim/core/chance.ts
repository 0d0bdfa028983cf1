/** Everything random in one run comes from here, in the order of the calls. */
export interface Chance {
  /** 0 (included) to 1 (excluded). */
  next(): number;
  /** Whole numbers, both ends included. */
  int(from: number, to: number): number;
  yes(probability: number): boolean;
  one<T>(choices: readonly T[]): T;
}

/** mulberry32. */
export function createChance(seed: number): Chance {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let warm = 0; warm < 3; warm += 1) next();
  return {
    next,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    yes: (probability) => next() < probability,
    one(choices) {
      const chosen = choices[Math.floor(next() * choices.length)];
      if (chosen === undefined) throw new Error('nothing to choose from');
      return chosen;
    },
  };
}
