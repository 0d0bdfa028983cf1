import { countBy, type Verdict } from './case.js';
import {
  barsOf,
  isMissed,
  latenciesOf,
  percentile,
  KILLED,
  recoveriesOf,
  requestsPerFlow,
  type Bar,
} from './figures.js';
import type { Deed } from './nemesis.js';
import { isNamed } from './stories.js';

/** Of a crypto send that was ordered right after a kill. */
export interface Recovery {
  readonly deed: string;
  readonly ms: number;
  readonly reference: string;
}

/** Everything of one run. */
export interface Run {
  readonly seed: number;
  readonly flows: number;
  readonly database: string;
  readonly repeatMode: string;
  readonly commit: string;
  readonly startedAt: string;
  /** Epoch ms: when the faults began, and when they were over. */
  readonly chaosFromMs: number;
  readonly chaosToMs: number;
  readonly tookMs: number;
  readonly deeds: readonly Deed[];
  /** From each kill until a crypto send that was ordered then had been sent and answered, ms. */
  readonly recoveries: readonly Recovery[];
  /** Promised faults that the run did not have. Empty: the run counts. */
  readonly shortOf: readonly string[];
  readonly verdict: Verdict;
}

/** `MISSED`: no invariant is violated, and the faults cost more than they may. */
export type Judgement = 'green' | 'RED' | 'INVALID' | 'MISSED';

export function judgementOf(run: Run): Judgement {
  if (run.verdict.violations.length > 0) return 'RED';
  if (run.shortOf.length > 0) return 'INVALID';
  return barsOf(run).some(isMissed) ? 'MISSED' : 'green';
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const spread = (values: readonly number[]): string =>
  `p50 ${seconds(percentile(values, 0.5))}, p95 ${seconds(percentile(values, 0.95))}, max ${seconds(Math.max(0, ...values))}`;
const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ') || 'none';
/** With no violation in n, the 95 % bound of its probability. */
const bound = (n: number): string => (n === 0 ? 'nothing is known' : `≤ ${((3 / n) * 100).toFixed(2)} %`);

const shownBar = (bar: Bar): string =>
  `${isMissed(bar) ? 'MISSED' : 'met'}: ${bar.what} ${bar.measured.toFixed(2)} ${bar.unit}, at most ${bar.atMost} ${bar.unit}`;

/** More of them would hide the rest of the report, which has all of them. */
const MOST_STORIES = 2;

/** Where a run's files are lost, as in CI, this is what a violation is traced by. */
function shownStories({ violations, stories }: Verdict): readonly string[] {
  const named = Object.entries(stories).filter(([flowId]) =>
    isNamed(flowId.slice(flowId.indexOf('/') + 1), violations),
  );
  return named
    .slice(0, MOST_STORIES)
    .map(([flowId, story]) => `    the story of ${flowId}: ${JSON.stringify(story, null, 1)}`);
}

/** The report for a terminal. */
export function textOf(run: Run): string {
  const { verdict, deeds } = run;
  const { calm, chaos } = latenciesOf(run);
  const requests = requestsPerFlow(run);
  const broken = countBy(verdict.violations.map(({ invariant }) => invariant));
  const sent = Object.values(verdict.executions).reduce((sum, count) => sum + count, 0);
  const done = countBy(deeds.map(({ deed }) => deed));
  return [
    `${judgementOf(run)}: ${run.flows} flows, seed ${run.seed}, ${run.database}, repeats: ${run.repeatMode}, commit ${run.commit}, ${seconds(run.tookMs)}`,
    `  violations   ${verdict.violations.length} in ${run.flows} flows: with 95 % confidence a flow breaks one with ${bound(run.flows)} (3/n, if there is none)`,
    ...verdict.violations.slice(0, 50).map(({ invariant, what }) => `    ${invariant}: ${what}`),
    ...shownStories(verdict),
    `  checked      ${Object.entries(verdict.checked)
      .map(([invariant, of]) => `${invariant} ${broken[invariant] ?? 0}/${of}`)
      .join(', ')} (violations/of)`,
    ...run.shortOf.map((what) => `  too little   ${what}`),
    `  endings      ${counts(verdict.states)}`,
    `  parked       ${verdict.parked.length}, without a fault of its own ${verdict.parked.filter(({ because }) => because.length === 0).length}`,
    `  executed     ${sent} references: ${Object.entries(verdict.executions)
      .map(([times, many]) => `${many} of them ${times} time${times === '1' ? '' : 's'}`)
      .join(', ')}`,
    `  faults       ${counts(verdict.injected)}`,
    `  seen         executed though the answer did not say so ${verdict.unknownAndExecuted}, events early ${verdict.early}, late ${verdict.inbox['late'] ?? 0}, contradictions ${verdict.conflicts}`,
    '  deeds',
    ...Object.entries(done).map(([deed, count]) => `    ${deed}: ${count}, ${bound(count)}`),
    '  recovery     from a kill until a crypto send that was ordered then was answered',
    ...KILLED.map((who) => {
      const ms = recoveriesOf(run, who);
      return `    ${who}: ${ms.length} kills, ${spread(ms)}`;
    }),
    `  latency      without faults ${spread(calm)}; with them ${spread(chaos)}`,
    `  requests     per flow: without faults ${requests.calm.toFixed(2)}, with them ${requests.chaos.toFixed(2)} (${(requests.chaos / (requests.calm || 1)).toFixed(2)} ×)`,
    '  bars',
    ...barsOf(run).map((bar) => `    ${shownBar(bar)}`),
    `  events       ${verdict.deliveries} sent to us; in the inbox: ${counts(verdict.inbox)}`,
    `  histories    ${verdict.replayed} replayed; longest ${verdict.longestHistory} events, most signals ${verdict.mostSignals}`,
  ].join('\n');
}
