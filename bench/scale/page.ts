import type { Results } from '../report/write-results.js';
import {
  ASSUMED,
  diskOf,
  limitsOf,
  type MeasuredCosts,
  PER_FLOW,
  scaled,
  SECONDS_A_DAY,
  unitsFor,
  unitsOf,
} from './model.js';

export interface Measured {
  readonly costs: MeasuredCosts;
  /** Bridge transfers a second of that machine, with everything on it. */
  readonly flowsPerSecond: number;
  readonly on: string;
}

/** From the figures of P13 and P4, which say `transfer 13.3 flows/s, CPU ms server 45.95 + worker 19.25 + …; bare …`. */
export function measuredIn(results: Results): Measured {
  const figuresOf = (benchmark: string, budget: string) =>
    (results[benchmark]?.findings ?? [])
      .filter((finding) => finding.budget === budget)
      .map(({ figures }) => figures.replace(/; bare .*/, ''))
      .join('\n');
  const cluster = figuresOf('cluster', 'P13');
  const webhooks = figuresOf('gateway', 'P4');
  const number = (text: string, before: RegExp) => Number(before.exec(text)?.[1]);
  const workers = [...cluster.matchAll(/worker(?: \d+)? ([\d.]+)/g)].map(([, ms]) => Number(ms));
  return {
    costs: {
      serverMs: number(cluster, /server ([\d.]+)/),
      workerMs: workers.reduce((sum, ms) => sum + ms, 0),
      postgresMs: number(cluster, /postgres ([\d.]+)/),
      gatewayMsPerWebhook: number(webhooks, /fresh .*?gateway ([\d.]+)/),
      temporalBytes: 1_000 * number(cluster, /Temporal ([\d.]+) kB/),
      storeBytes: 1_000 * number(cluster, /store ([\d.]+) kB/),
      logBytes: 1_000 * number(cluster, /log ([\d.]+) kB/),
    },
    flowsPerSecond: number(cluster, /transfer ([\d.]+) flows\/s/),
    on: `${results['cluster']?.machine}, ${results['cluster']?.at.slice(0, 10)}`,
  };
}

const RATES = [1, 10, 100, 1_000, 10_000];
const SIZED = [1, 10, 100];
/** A small installation: this many units of these parts, and one of each other. */
const SMALL: Readonly<Record<string, number>> = {
  'Temporal, cores': 4,
  'Temporal, history shards': 4,
  'Postgres, cores': 4,
  'Postgres, connections in use': 10,
};
export const limitsOfSmall = (costs: MeasuredCosts) =>
  limitsOf(unitsOf(costs).map((unit) => scaled(unit, SMALL[unit.name] ?? 1)));

const CONNECTIONS_OF_A_PROCESS = 12;
const RETENTION_DAYS = 3;
const BODIES_KEPT_DAYS = 90;
const ARCHIVE_DAYS = 7;

/** The tables of docs/scale.md. */
export function tablesOf(measured: Measured): readonly string[] {
  const { costs } = measured;
  return [capacityTable(costs), sizingTable(costs), sourcesTable(measured), limitsTable(costs)];
}

/** The page with these tables in place of those that begin with the same lines. */
export const withTables = (page: string, tables: readonly string[]): string =>
  page
    .split('\n\n')
    .map((block) => tables.find((table) => firstLine(table) === firstLine(block)) ?? block)
    .join('\n\n');

const firstLine = (block: string): string => block.slice(0, block.indexOf('\n'));

type Cell = string | number;
const shown = (cell: Cell): string => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en-US') : cell);
const table = (head: string, columns: string, rows: readonly (readonly Cell[])[]): string =>
  [head, columns, ...rows.map((cells) => `| ${cells.map(shown).join(' | ')} |`)].join('\n');

function capacityTable(costs: MeasuredCosts): string {
  const disks = RATES.map((rate) => diskOf(costs, rate));
  return table('| part | 1 flow/s | 10 | 100 | 1,000 | 10,000 |', '|---|--:|--:|--:|--:|--:|', [
    ...unitsOf(costs).map((unit) => [unit.name, ...RATES.map((rate) => unitsFor(unit, rate))]),
    ['Temporal, GB a day', ...disks.map(({ temporalGb }) => temporalGb)],
    ['store, GB a day', ...disks.map(({ storeGb }) => storeGb)],
    ['Postgres, GB of write-ahead log a day', ...disks.map(({ logGb }) => logGb)],
  ]);
}

function sizingTable(costs: MeasuredCosts): string {
  const units = unitsOf(costs);
  const sized = SIZED.map((rate) => {
    const counts = new Map(units.map((unit) => [unit.name, unitsFor(unit, rate)]));
    const of = (name: string) => counts.get(name) ?? Number.NaN;
    const gateways = of('gateways, cores') + 1;
    const workers = of('workers, cores') + 1;
    const connections = CONNECTIONS_OF_A_PROCESS * (gateways + workers);
    return { rate, of, gateways, workers, connections, disk: diskOf(costs, rate) };
  });
  const row = (name: string, value: (one: (typeof sized)[number]) => number) => [name, ...sized.map(value)];
  return table('| | 1 flow/s | 10 | 100 |', '|---|--:|--:|--:|', [
    row('flows a day', ({ rate }) => rate * SECONDS_A_DAY),
    row('gateways, of one core each', ({ gateways }) => gateways),
    row('workers, of one core each', ({ workers }) => workers),
    row('connections that Postgres must allow us', ({ connections }) => connections),
    row('Temporal, cores', ({ of }) => Math.max(2, of('Temporal, cores'))),
    row('Postgres, cores', ({ of }) => Math.max(2, of('Postgres, cores'))),
    row(`Temporal, disk for ${RETENTION_DAYS} days of retention, GB`, ({ disk }) => disk.temporalGb * RETENTION_DAYS),
    row(`store, disk for the first ${BODIES_KEPT_DAYS} days, GB`, ({ disk }) => disk.storeGb * BODIES_KEPT_DAYS),
    row(`archive of Postgres's log for ${ARCHIVE_DAYS} days, GB`, ({ disk }) => disk.logGb * ARCHIVE_DAYS),
  ]);
}

function sourcesTable({ costs, flowsPerSecond, on }: Measured): string {
  const kB = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return table('| figure | it is |', '|---|---|', [
    [
      `CPU of Temporal (${ms(costs.serverMs)} a flow), Postgres (${ms(costs.postgresMs)}), workers (${ms(costs.workerMs)}) and gateway (${ms(costs.gatewayMsPerWebhook)} a webhook)`,
      `measured (P13, P4) on ${on}: [figures](../bench/results.md). That machine, with everything on it, played ${flowsPerSecond} transfers a second`,
    ],
    [
      `${kB(costs.temporalBytes)} of Temporal's databases, ${kB(costs.storeBytes)} of the store and ${kB(costs.logBytes)} of Postgres's log a flow`,
      'measured (P13), over 200 flows at a time in new databases; the log is that of both. Measure your own after the first day',
    ],
    [
      `${PER_FLOW.events} events, ${PER_FLOW.transitions} writes of Temporal, ${PER_FLOW.transactions} transactions of the store and ${PER_FLOW.webhooks} webhooks a flow`,
      'counted in histories and code',
    ],
    [
      `${CONNECTIONS_OF_A_PROCESS} connections for each gateway and worker`,
      '[a limit in the code](deployment.md#the-store-on-postgres)',
    ],
    [
      `${ASSUMED.commitMs} ms a commit, ${ASSUMED.shardWriteMs} ms a write of a shard, ${ASSUMED.callbackMs} ms a callback, ${shown(ASSUMED.tasksPerPartitionPerSecond)} tasks a second of a partition`,
      'assumed',
    ],
    ['all other figures of these tables', 'computed from these'],
  ]);
}

function limitsTable(costs: MeasuredCosts): string {
  return table(
    '| part | units | full at, flows a second |',
    '|---|--:|--:|',
    limitsOfSmall(costs).map(({ station, flowsPerSecond }) => [
      station.name,
      SMALL[station.name] ?? 1,
      Math.floor(flowsPerSecond),
    ]),
  );
}
