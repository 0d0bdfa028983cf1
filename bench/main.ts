/** `npm run bench -- [NAME…] [--write] [--json FILE]`; its exit code is 1 if a budget is missed. */
import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.js';
import { createAttackBenchmark } from './gateway/attack.js';
import { alternatives } from './alternatives/alternatives.js';
import { bridge } from './bridge/bridge.js';
import { cluster } from './cluster/cluster.js';
import { gateway } from './gateway/gateway.js';
import { hangingReceivers } from './gateway/hanging-receivers.js';
import { twoGateways } from './gateway/two-gateways.js';
import { openFlows } from './open-flows/open-flows.js';
import { rows } from './store/rows.js';
import { isMet, notMeasured } from './report/finding.js';
import { tableOf } from './report/table.js';
import { busyMachine } from './report/busy-machine.js';
import { type BenchmarkRun, runOf, writeJson, writeResults } from './report/write-results.js';
import { sandbox } from './sandbox/sandbox.js';
import { start } from './start/start.js';

const DEFAULT_MINUTES = 30;
const OPTIONS = {
  help: { type: 'boolean' },
  write: { type: 'boolean' },
  json: { type: 'string' },
  minutes: { type: 'string', default: String(DEFAULT_MINUTES) },
} as const;

const benchmarks = (minutes: number): readonly Benchmark[] => [
  gateway,
  bridge,
  start,
  sandbox,
  rows,
  twoGateways,
  hangingReceivers,
  alternatives,
  openFlows,
  cluster,
  createAttackBenchmark(minutes),
];

const HELP = [
  'npm run bench                measures every budget',
  'npm run bench -- NAME…       measures only these:',
  ...benchmarks(DEFAULT_MINUTES).map(({ name, about }) => `  ${name.padEnd(10)} ${about}`),
  '--write       also writes its figures to bench/results.md, bench/results.json and docs/images/benchmarks.svg',
  '--json FILE   also writes the figures there, as JSON',
  `--minutes N   length of the attack; a quiet part of a sixth of it comes before. @default ${DEFAULT_MINUTES}`,
  '',
  'The exit code is 1 if a budget is missed. Close all other programs on this machine: CPU is counted and time is taken.',
].join('\n');

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = parsed(args);
  if (typeof asked === 'string') {
    say(`${asked}\n`);
    process.stdout.write(`${HELP}\n`);
    return 2;
  }
  const { names, minutes, help, write, json } = asked;
  if (help) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }

  const chosen = benchmarks(minutes).filter(
    ({ name, onlyNamed }) => names.includes(name) || (names.length === 0 && onlyNamed !== true),
  );
  // Before our own load is part of it.
  const busy = busyMachine();
  if (busy !== undefined) say(`${busy}: rates and durations will say little, CPU more`);
  const found: Record<string, BenchmarkRun> = {};
  for (const benchmark of chosen) {
    say(`${benchmark.name}: ${benchmark.about}`);
    const findings = await benchmark
      .run((line) => say(`  ${line}`))
      .catch((error: unknown) => [notMeasured(benchmark.name, String(error))]);
    found[benchmark.name] = runOf(findings, busy);
    process.stdout.write(`\n${tableOf(findings)}\n\n`);
  }
  for (const path of write ? await writeResults(found) : []) say(`written to ${path}`);
  if (json !== undefined) await writeJson(json, found);
  return Object.values(found).every(({ findings }) => findings.every(isMet)) ? 0 : 1;
}

interface Asked {
  readonly names: readonly string[];
  readonly minutes: number;
  readonly help: boolean;
  readonly write: boolean;
  readonly json: string | undefined;
}

/** The parsed arguments, or what is wrong with them. */
function parsed(args: readonly string[]): Asked | string {
  try {
    const { values, positionals: names } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const { help = false, write = false, json } = values;
    const minutes = Number(values.minutes);
    if (!(minutes > 0)) return '--minutes is not a number of minutes.';
    const known = benchmarks(minutes).map(({ name }) => name);
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) return `There is no benchmark called ${unknown.join(', ')}.`;
    return { names, minutes, help, write, json };
  } catch (error) {
    return (error as Error).message;
  }
}

/** To stderr, so that the tables on stdout stay by themselves. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
