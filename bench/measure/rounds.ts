import { median } from './statistics.js';

export interface Rounds<A, B> {
  readonly a: readonly A[];
  readonly b: readonly B[];
}

/** A, B, A, B, …: anything that slows the machine for a while slows both. */
export async function sideBySide<A, B>(
  sides: { readonly a: () => Promise<A>; readonly b: () => Promise<B> },
  count = 3,
): Promise<Rounds<A, B>> {
  const rounds = { a: [] as A[], b: [] as B[] };
  for (let round = 0; round < count; round += 1) {
    rounds.a.push(await sides.a());
    rounds.b.push(await sides.b());
  }
  return rounds;
}

export const medianOf = <Round>(rounds: readonly Round[], figure: (round: Round) => number): number =>
  median(rounds.map(figure));

/** The ratio of the medians, never a median of ratios: neighbours in time are no pairs. */
export const ratioOf = <Figures>(rounds: Rounds<Figures, Figures>, figure: (round: Figures) => number): number =>
  medianOf(rounds.a, figure) / medianOf(rounds.b, figure);
