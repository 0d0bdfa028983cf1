import type { Verdict } from './judge.js';
import type { Deed } from './nemesis.js';

/** Everything of one run. */
export interface Run {
  readonly seed: number;
  readonly flows: number;
  readonly database: string;
  readonly commit: string;
  readonly startedAt: string;
  /** Epoch ms: when the faults began, and when they were over. */
  readonly chaosFromMs: number;
  readonly chaosToMs: number;
  readonly tookMs: number;
  readonly deeds: readonly Deed[];
  /** From each kill until a transfer that was ordered then had been sent and answered, ms. */
  readonly recoveries: readonly { readonly deed: string; readonly ms: number }[];
  /** Requests to the service for each flow of the warm-up, which met no fault, and of the chaos. */
  readonly requestsPerFlow: { readonly calm: number; readonly chaos: number };
  /** A promise about the faults that the run did not keep. None: it counts. */
  readonly shortOf: readonly string[];
  readonly verdict: Verdict;
}

export type Judgement = 'green' | 'RED' | 'INVALID';

export function judgementOf({ verdict, shortOf }: Run): Judgement {
  if (verdict.violations.length > 0) return 'RED';
  return shortOf.length > 0 ? 'INVALID' : 'green';
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ') || 'none';

export function latenciesOf(run: Run): { readonly calm: readonly number[]; readonly chaos: readonly number[] } {
  const all = Object.values(run.verdict.latencies);
  const within = (calm: boolean) =>
    all
      .filter(({ startedAtMs }) => (startedAtMs < run.chaosFromMs || startedAtMs > run.chaosToMs) === calm)
      .map(({ tookMs }) => tookMs);
  return { calm: within(true), chaos: within(false) };
}

/** The report for a terminal. */
export function textOf(run: Run): string {
  const { verdict, deeds, recoveries, requestsPerFlow } = run;
  const { calm, chaos } = latenciesOf(run);
  const spread = (values: readonly number[]) =>
    `p50 ${seconds(percentile(values, 0.5))}, p95 ${seconds(percentile(values, 0.95))}, max ${seconds(Math.max(0, ...values))}`;
  const recovered = recoveries.map(({ ms }) => ms);
  const sent = Object.values(verdict.executions).reduce((sum, count) => sum + count, 0);
  return [
    `${judgementOf(run)}: ${run.flows} flows, seed ${run.seed}, ${run.database}, commit ${run.commit}, ${seconds(run.tookMs)}`,
    `  violations   ${verdict.violations.length}; with n flows, zero means at most 3/n: ${((3 / run.flows) * 100).toFixed(2)} % (95 %)`,
    ...verdict.violations.slice(0, 50).map(({ invariant, what }) => `    ${invariant}: ${what}`),
    ...run.shortOf.map((what) => `  too little   ${what}`),
    `  endings      ${counts(verdict.states)}`,
    `  parked       ${verdict.parked.length}, without a fault of its own ${verdict.parked.filter(({ because }) => because.length === 0).length}`,
    `  executed     ${sent} references: ${Object.entries(verdict.executions)
      .map(([times, many]) => `${many} of them ${times} time${times === '1' ? '' : 's'}`)
      .join(', ')}`,
    `  faults       ${counts(verdict.injected)}; executed though the answer did not say so: ${verdict.unknownAndExecuted}`,
    `  deeds        ${counts(countBy(deeds.map(({ deed }) => deed.replace(/-\d+$/, ''))))}`,
    `  recovery     ${spread(recovered)} (a transfer ordered right after a kill, until it was answered; ${recovered.length} kills)`,
    `  latency      without faults ${spread(calm)}; with them ${spread(chaos)}`,
    `  requests     per flow: without faults ${requestsPerFlow.calm.toFixed(2)}, with them ${requestsPerFlow.chaos.toFixed(2)} (${(requestsPerFlow.chaos / (requestsPerFlow.calm || 1)).toFixed(2)} ×)`,
    `  events       ${verdict.deliveries} sent to us; in the inbox: ${counts(verdict.inbox)}`,
    `  histories    ${verdict.replayed} replayed; longest ${verdict.longestHistory} events, most signals ${verdict.mostSignals}`,
  ].join('\n');
}

function countBy(words: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const word of words) found[word] = (found[word] ?? 0) + 1;
  return found;
}

/** One page with plots; no script, nothing from elsewhere. */
export function htmlOf(run: Run): string {
  const { calm, chaos } = latenciesOf(run);
  const figures = [
    histogram('From start to end, without faults (s)', calm),
    histogram('From start to end, with faults (s)', chaos),
    histogram(
      'Recovery after a kill (s)',
      run.recoveries.map(({ ms }) => ms),
    ),
    bars('Endings', run.verdict.states),
    bars('How often a reference was executed', run.verdict.executions),
    bars('Faults of the service', run.verdict.injected),
  ];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Chaos: seed ${run.seed}</title>
<style>body{font:14px system-ui;margin:2em;max-width:70em}pre{background:#f4f4f4;padding:1em;overflow:auto}
figure{display:inline-block;margin:1em}figcaption{font-weight:600}rect{fill:#3a6ea5}text{font:11px system-ui}</style>
<h1>Chaos: ${judgementOf(run)}</h1><pre>${escaped(textOf(run))}</pre>${figures.join('')}</html>\n`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const BINS = 20;

function histogram(title: string, valuesMs: readonly number[]): string {
  const most = Math.max(1, ...valuesMs) / 1_000;
  const bins: Record<string, number> = {};
  for (let bin = 0; bin < BINS; bin += 1) bins[((most * (bin + 1)) / BINS).toFixed(1)] = 0;
  const edges = Object.keys(bins);
  for (const ms of valuesMs) {
    const edge = edges[Math.min(BINS - 1, Math.floor((ms / 1_000 / most) * BINS))];
    if (edge !== undefined) bins[edge] = (bins[edge] ?? 0) + 1;
  }
  return bars(title, bins);
}

const [ROW, LABEL, WIDTH] = [16, 150, 260];

function bars(title: string, values: Readonly<Record<string, number>>): string {
  const entries = Object.entries(values);
  const most = Math.max(1, ...entries.map(([, value]) => value));
  const rows = entries.map(([label, value], index) => {
    const y = index * ROW;
    const width = ((value / most) * WIDTH).toFixed(1);
    return `<text x="${LABEL - 6}" y="${y + 12}" text-anchor="end">${escaped(label)}</text><rect x="${LABEL}" y="${y + 2}" width="${width}" height="${ROW - 4}"/><text x="${LABEL + Number(width) + 4}" y="${y + 12}">${value}</text>`;
  });
  const height = Math.max(1, entries.length) * ROW;
  return `<figure><figcaption>${escaped(title)}</figcaption><svg width="${LABEL + WIDTH + 60}" height="${height}" role="img" aria-label="${escaped(title)}">${rows.join('')}</svg></figure>`;
}
