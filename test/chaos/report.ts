import { countBy, type Verdict } from './case.js';
import type { Deed } from './nemesis.js';

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
  readonly recoveries: readonly { readonly deed: string; readonly ms: number }[];
  /** Promised faults that the run did not have. Empty: the run counts. */
  readonly shortOf: readonly string[];
  readonly verdict: Verdict;
}

export type Judgement = 'green' | 'RED' | 'INVALID';

export function judgementOf({ verdict, shortOf }: Run): Judgement {
  if (verdict.violations.length > 0) return 'RED';
  return shortOf.length > 0 ? 'INVALID' : 'green';
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
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

/** What was started before the faults or after them, and what was started among them. */
export function latenciesOf(run: Run): { readonly calm: readonly number[]; readonly chaos: readonly number[] } {
  const all = Object.entries(run.verdict.latencies);
  const of = (calm: boolean) => all.filter(([, flow]) => isCalm(run, flow) === calm).map(([, { tookMs }]) => tookMs);
  return { calm: of(true), chaos: of(false) };
}

const isCalm = ({ chaosFromMs, chaosToMs }: Run, { startedAtMs }: { readonly startedAtMs: number }): boolean =>
  startedAtMs < chaosFromMs || startedAtMs > chaosToMs;

/** Of the flows that ended, the mean of their requests to the service. */
function requestsPerFlow(run: Run): { readonly calm: number; readonly chaos: number } {
  const { latencies, requests } = run.verdict;
  const mean = (calm: boolean) => {
    const ids = Object.entries(latencies).flatMap(([flowId, flow]) => (isCalm(run, flow) === calm ? [flowId] : []));
    return ids.reduce((sum, flowId) => sum + (requests[flowId] ?? 0), 0) / Math.max(1, ids.length);
  };
  return { calm: mean(true), chaos: mean(false) };
}

export const killsOf = ({ recoveries }: Run): ReadonlyMap<string, readonly number[]> =>
  new Map(
    ['worker', 'gateway', 'temporal', 'sandbox'].map((who) => [
      who,
      recoveries.filter(({ deed }) => deed.startsWith(`kill ${who}`)).map(({ ms }) => ms),
    ]),
  );

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
    ...[...killsOf(run)].map(([who, ms]) => `    ${who}: ${ms.length} kills, ${spread(ms)}`),
    `  latency      without faults ${spread(calm)}; with them ${spread(chaos)}`,
    `  requests     per flow: without faults ${requests.calm.toFixed(2)}, with them ${requests.chaos.toFixed(2)} (${(requests.chaos / (requests.calm || 1)).toFixed(2)} ×)`,
    `  events       ${verdict.deliveries} sent to us; in the inbox: ${counts(verdict.inbox)}`,
    `  histories    ${verdict.replayed} replayed; longest ${verdict.longestHistory} events, most signals ${verdict.mostSignals}`,
  ].join('\n');
}
