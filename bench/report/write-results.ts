import { writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMet, type Finding } from './finding.js';
import { pictureOf } from './picture.js';
import { tableOf } from './table.js';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** One run of some benchmarks. */
export interface BenchmarkRun {
  readonly byBenchmark: ReadonlyMap<string, readonly Finding[]>;
  readonly at: Date;
  /** How busy the machine was before, if it was. */
  readonly busy: string | undefined;
}

/** Keeps the figures of this run, with what they were measured on. Returns the files. */
export async function writeResults(run: BenchmarkRun): Promise<readonly string[]> {
  const [table, json, picture] = ['../results.md', '../results.json', '../../docs/images/benchmarks.svg'].map(
    pathOf,
  ) as [string, string, string];
  await writeFile(table, tablesOf(run));
  await writeJson(json, run);
  await writeFile(picture, pictureOf([...run.byBenchmark.values()].flat()));
  return [table, json, picture];
}

export async function writeJson(path: string, { byBenchmark, at, busy }: BenchmarkRun): Promise<void> {
  const benchmarks = Object.fromEntries(
    [...byBenchmark].map(([name, findings]) => [name, findings.map((one) => ({ ...one, met: isMet(one) }))]),
  );
  const json = { at: at.toISOString(), machine: machine(), busy: busy ?? null, benchmarks };
  await writeFile(path, `${JSON.stringify(json, null, 2)}\n`);
}

function tablesOf({ byBenchmark, at, busy }: BenchmarkRun): string {
  const sections = [...byBenchmark].map(([name, findings]) => `## ${name}\n\n${tableOf(findings)}\n`);
  const loadWas = busy === undefined ? '' : `; ${busy}, so rates and durations say little`;
  return [
    '# Performance, as measured',
    '',
    '`npm run bench -- --write` wrote this. Ratios are of medians of three rounds or more, measured in turns in one run, and of',
    'the 99th percentile of all their operations together; CPU in milliseconds per operation. `npm run bench` measures again',
    'and fails if a budget is missed.',
    '',
    `Measured on ${machine()}, ${at.toISOString().slice(0, 10)}${loadWas}.`,
    '',
    ...sections,
  ].join('\n');
}

function machine(): string {
  const [cpu] = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? arch()}, ${memoryGb} GB, ${platform()}, Node ${process.versions.node}`;
}
