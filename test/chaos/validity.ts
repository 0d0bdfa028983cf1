import { countBy, type Verdict } from './case.js';
import { CRASH_POINTS, type Deed } from './nemesis.js';

/** How often each fault must happen in 2,000 flows for a run to mean anything. */
const OF_FLOWS = 2_000;
const LEAST = {
  unknown: 20,
  early: 20,
  late: 10,
  conflict: 5,
  crashPoint: 5,
} as const;

interface Happened {
  readonly verdict: Pick<Verdict, 'unknownAndExecuted' | 'early' | 'inbox' | 'conflicts'>;
  readonly deeds: readonly Pick<Deed, 'deed'>[];
  readonly flows: number;
}

/** Promised faults that hardly happened; empty: the run counts. In proportion to its flows, and at least once each. */
export function shortOf({ verdict, deeds, flows }: Happened): readonly string[] {
  const least = (of: number) => Math.max(1, Math.floor((of * flows) / OF_FLOWS));
  const done = countBy(deeds.map(({ deed }) => deed));
  const counts: readonly (readonly [what: string, count: number, least: number])[] = [
    ['POSTs that were executed though their answer did not say so', verdict.unknownAndExecuted, LEAST.unknown],
    ['events that came before the answer to their POST', verdict.early, LEAST.early],
    ['events that came after the end of their flow', verdict.inbox['late'] ?? 0, LEAST.late],
    ['contradictions', verdict.conflicts, LEAST.conflict],
    ...CRASH_POINTS.map((point) => [point, done[point] ?? 0, LEAST.crashPoint] as const),
  ];
  return counts.flatMap(([what, count, of]) =>
    count < least(of) ? [`${what}: ${count}, and ${least(of)} were promised`] : [],
  );
}
