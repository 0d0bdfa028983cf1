/** `npm run scale`: what 1 to 10,000 flows a second need. docs/scale.md explains it. */
import { existsSync, readFileSync } from 'node:fs';
import type { Finding } from '../report/finding.js';
import { diskOf, firstFull, scaled, unitsFor, unitsOf, type MeasuredCosts } from './model.js';
import { loadOf, simulateWaits } from './queues.js';

const RATES = [1, 10, 100, 1_000, 10_000];
/** The values in docs/scale.md for the first bottleneck. */
const SMALL = { 'Temporal, cores': 4, 'Temporal, history shards': 4, 'Postgres, connections in use': 10 };
const RUN = { requests: 40_000, seed: 1 };

/** From bench/results.md of 2026-11-22 on two quiet cores, if there is no results.json. */
const EARLIER: MeasuredCosts = { serverMs: 34.6, workerMs: 17, gatewayMsPerWebhook: 0.67 };
const RESULTS = new URL('../results.json', import.meta.url);

const costs = existsSync(RESULTS) ? costsIn(readFileSync(RESULTS, 'utf8')) : EARLIER;
const units = unitsOf(costs);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

say(
  `CPU ms a flow: server ${costs.serverMs}, worker ${costs.workerMs}; a webhook: gateway ${costs.gatewayMsPerWebhook}\n`,
);
say(`| part | ${RATES.map((rate) => `${rate}/s`).join(' | ')} |`);
say(`|---|${RATES.map(() => '--:|').join('')}`);
for (const unit of units) say(`| ${unit.name} | ${RATES.map((rate) => unitsFor(unit, rate)).join(' | ')} |`);
const disks = RATES.map(diskOf);
const gb = (of: 'temporalGb' | 'storeGb' | 'walGb') => disks.map((disk) => disk[of].toFixed(0)).join(' | ');
say(`| Temporal, GB a day | ${gb('temporalGb')} |`);
say(`| store, GB a day | ${gb('storeGb')} |`);
say(`| its write-ahead log, GB a day | ${gb('walGb')} |`);

const small = units.map((unit) => scaled(unit, SMALL[unit.name as keyof typeof SMALL] ?? 1));
const full = firstFull(small);
say(
  `\nWith ${JSON.stringify(SMALL)} and one of all else, "${full.station.name}" is full first: ${full.flowsPerSecond.toFixed(0)} flows/s.`,
);
for (const share of [0.5, 0.9, 1.1]) {
  const rate = full.flowsPerSecond * share;
  const waits = small.map((station) => ({ station, ...simulateWaits(station, rate, RUN) }));
  const worst = waits.toSorted((a, b) => b.p99Ms - a.p99Ms)[0];
  if (worst === undefined) continue;
  const load = (100 * loadOf(worst.station, rate)).toFixed(0);
  say(
    `At ${rate.toFixed(0)} flows/s the longest wait is for "${worst.station.name}" (${load} % busy): p99 ${worst.p99Ms.toFixed(0)} ms.`,
  );
}

/** From the figures of P1 and P4, which say `server 34.60 + worker 17.00`. */
function costsIn(json: string): MeasuredCosts {
  const { benchmarks } = JSON.parse(json) as { benchmarks: Record<string, readonly Finding[]> };
  const figuresOf = (budget: string, benchmark: string) =>
    benchmarks[benchmark]?.find((finding) => finding.budget === budget)?.figures ?? '';
  const number = (text: string, before: RegExp, otherwise: number) => {
    const found = Number(before.exec(text)?.[1] ?? Number.NaN);
    return Number.isFinite(found) ? found : otherwise;
  };
  const transfer = figuresOf('P1', 'bridge');
  return {
    serverMs: number(transfer, /server ([\d.]+)/, EARLIER.serverMs),
    workerMs: number(transfer, /worker ([\d.]+)/, EARLIER.workerMs),
    gatewayMsPerWebhook: number(figuresOf('P4', 'gateway'), /fresh .*?gateway ([\d.]+)/, EARLIER.gatewayMsPerWebhook),
  };
}
