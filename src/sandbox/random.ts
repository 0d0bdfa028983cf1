import { createHash } from 'node:crypto';

/**
 * Reproducible chance: the same seed and the same words give the same number, whatever else happened before. A
 * generator with a state would not do: requests come in another order in every run.
 */
export type Chance = (...words: readonly (string | number)[]) => number;

/** Numbers from 0 (included) to 1 (excluded). */
export function createChance(seed: number): Chance {
  return (...words) => {
    const digest = createHash('sha256')
      .update(JSON.stringify([seed, ...words]))
      .digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  };
}

/** One of several, by a number from 0 to 1. */
export function pick<T>(choices: readonly [T, ...T[]], chance: number): T {
  return choices[Math.min(choices.length - 1, Math.floor(chance * choices.length))] ?? choices[0];
}
