/** `npm run bench -- [NAME…] [--write]`; its exit code is 1 where a budget is missed. */
import type { Benchmark } from './benchmark.js';
import { createAttackBenchmark } from './gateway/attack.js';
import { alternatives } from './alternatives/alternatives.js';
import { bridge } from './bridge/bridge.js';
import { gateway } from './gateway/gateway.js';
import { hangingReceivers } from './gateway/hanging-receivers.js';
import { twoGateways } from './gateway/two-gateways.js';
import { rows } from './store/rows.js';
import { isMet, type Finding } from './report/finding.js';
import { tableOf } from './report/table.js';
import { busyMachine } from './report/busy-machine.js';
import { writeResults } from './report/write-results.js';
import { sandbox } from './sandbox/sandbox.js';
import { start } from './start/start.js';

const DEFAULT_MINUTES = 30;
const MINUTES = '--minutes';
const minutesAt = process.argv.indexOf(MINUTES);
const minutes = minutesAt < 0 ? DEFAULT_MINUTES : Number(process.argv[minutesAt + 1]);

const BENCHMARKS: readonly Benchmark[] = [
  gateway,
  bridge,
  start,
  sandbox,
  rows,
  twoGateways,
  hangingReceivers,
  alternatives,
  createAttackBenchmark(minutes),
];

const HELP = [
  'npm run bench                measures every budget',
  'npm run bench -- NAME…       measures only these:',
  ...BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`),
  'npm run bench -- --write …   also writes the figures to bench/results.md',
  '',
  'The exit code is 1 where a budget is missed. Close what else works on this machine: CPU is counted and time is taken.',
].join('\n');

process.exitCode = await main(
  process.argv.filter((_, at) => at > 1 && (minutesAt < 0 || at < minutesAt || at > minutesAt + 1)),
);

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((argument) => !argument.startsWith('--'));
  const flags = args.filter((argument) => argument.startsWith('--'));
  const unknown = [
    ...(minutes > 0 ? [] : [MINUTES]),
    ...names.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name)),
    ...flags.filter((flag) => flag !== '--help' && flag !== '--write'),
  ];
  if (flags.includes('--help') || unknown.length > 0) {
    if (unknown.length > 0) say(`There is no benchmark or option called ${unknown.join(', ')}.\n`);
    process.stdout.write(`${HELP}\n`);
    return unknown.length > 0 ? 2 : 0;
  }

  const chosen = BENCHMARKS.filter(
    ({ name, onlyNamed }) => names.includes(name) || (names.length === 0 && onlyNamed !== true),
  );
  // Before our own load is part of it.
  const busy = busyMachine();
  if (busy !== undefined) say(`${busy}: rates and durations will say little, CPU more`);
  const found = new Map<string, readonly Finding[]>();
  for (const benchmark of chosen) {
    say(`${benchmark.name}: ${benchmark.about}`);
    const findings = await benchmark.run((line) => say(`  ${line}`));
    found.set(benchmark.name, findings);
    process.stdout.write(`\n${tableOf(findings)}\n\n`);
  }
  if (flags.includes('--write')) say(`written to ${await writeResults(found, new Date(), busy)}`);
  return [...found.values()].flat().every(isMet) ? 0 : 1;
}

/** To stderr, so that the tables on stdout stay by themselves. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
