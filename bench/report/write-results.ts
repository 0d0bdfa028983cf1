import { readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMet, type Finding } from './finding.js';
import { pictureOf } from './picture.js';
import { tableOf } from './table.js';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const TABLE = pathOf('../results.md');
const KEPT = pathOf('../results.json');
const PICTURE = pathOf('../../docs/images/benchmarks.svg');

/** A run of one benchmark. */
export interface BenchmarkRun {
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly machine: string;
  /** How busy the machine was before, if it was. */
  readonly busy: string | null;
  readonly findings: readonly (Finding & { readonly met: boolean })[];
}
/** By benchmark. */
export type Results = Readonly<Record<string, BenchmarkRun>>;

export const runOf = (findings: readonly Finding[], busy: string | undefined): BenchmarkRun => ({
  at: new Date().toISOString(),
  machine: machine(),
  busy: busy ?? null,
  findings: findings.map((one) => ({ ...one, met: isMet(one) })),
});

/** Keeps these figures, and those of benchmarks that did not run now. Returns the files. */
export async function writeResults(now: Results): Promise<readonly string[]> {
  const all = { ...(JSON.parse(await readFile(KEPT, 'utf8')) as Results), ...now };
  await writeFile(TABLE, tablesOf(all));
  await writeJson(KEPT, all);
  await writeFile(PICTURE, pictureOf(Object.values(all).flatMap(({ findings }) => findings)));
  return [TABLE, KEPT, PICTURE];
}

export async function writeJson(path: string, results: Results): Promise<void> {
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
}

export function tablesOf(results: Results): string {
  const sections = Object.entries(results).map(([name, { at, machine: where, busy, findings }]) => {
    const loadWas = busy === null ? '' : `; ${busy}, so rates and durations say little`;
    return `## ${name}\n\nMeasured on ${where}, ${at.slice(0, 10)}${loadWas}.\n\n${tableOf(findings)}\n`;
  });
  return [
    '# Performance, as measured',
    '',
    '`npm run bench -- --write` wrote this. Ratios are of medians of three rounds or more, measured in turns in one run, and of',
    'the 99th percentile of all their operations together; CPU in milliseconds per operation. `npm run bench` measures again',
    'and fails if a budget is missed. [Why some are missed](../docs/performance.md).',
    '',
    ...sections,
  ].join('\n');
}

function machine(): string {
  const [cpu] = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? arch()}, ${memoryGb} GB, ${platform()}, Node ${process.versions.node}`;
}
