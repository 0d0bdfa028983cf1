import type { Run } from './report.js';

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** What was started before the faults or after them, and what was started among them. */
export function latenciesOf(run: Run): { readonly calm: readonly number[]; readonly chaos: readonly number[] } {
  const all = Object.entries(run.verdict.latencies);
  const of = (calm: boolean) => all.filter(([, flow]) => isCalm(run, flow) === calm).map(([, { tookMs }]) => tookMs);
  return { calm: of(true), chaos: of(false) };
}

const isCalm = ({ chaosFromMs, chaosToMs }: Run, { startedAtMs }: { readonly startedAtMs: number }): boolean =>
  startedAtMs < chaosFromMs || startedAtMs > chaosToMs;

/** Of the flows that ended, the mean of their requests to the service. */
export function requestsPerFlow(run: Run): { readonly calm: number; readonly chaos: number } {
  const { latencies, requests } = run.verdict;
  const mean = (calm: boolean) => {
    const ids = Object.entries(latencies).flatMap(([flowId, flow]) => (isCalm(run, flow) === calm ? [flowId] : []));
    return ids.reduce((sum, flowId) => sum + (requests[flowId] ?? 0), 0) / Math.max(1, ids.length);
  };
  return { calm: mean(true), chaos: mean(false) };
}

/** What is killed. */
export const KILLED = ['worker', 'gateway', 'temporal', 'sandbox'] as const;
type Killed = (typeof KILLED)[number];

/** How long after each kill of it a crypto send was answered, ms. */
export const recoveriesOf = ({ recoveries }: Run, who: Killed): readonly number[] =>
  recoveries.filter(({ deed }) => deed.startsWith(`kill ${who}`)).map(({ ms }) => ms);

/** A limit to what faults may cost. */
export interface Bar {
  readonly what: string;
  readonly measured: number;
  readonly atMost: number;
  readonly unit: 's' | '×';
}

export const isMissed = ({ measured, atMost }: Bar): boolean => !(measured <= atMost);

export function barsOf(run: Run): readonly Bar[] {
  const recovery = (who: Killed, atMost: number): Bar => ({
    what: `recovery from the kill of a ${who}, p95`,
    measured: percentile(recoveriesOf(run, who), 0.95) / 1_000,
    atMost,
    unit: 's',
  });
  const { calm, chaos } = requestsPerFlow(run);
  return [
    recovery('worker', 15),
    recovery('temporal', 20),
    { what: 'requests per flow against those without faults', measured: chaos / calm, atMost: 1.5, unit: '×' },
  ];
}
