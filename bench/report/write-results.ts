import { writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Finding } from './finding.js';
import { tableOf } from './table.js';

const RESULTS = fileURLToPath(new URL('../results.md', import.meta.url));

/** Keeps the figures of this run, with what they were measured on. */
export async function writeResults(
  byBenchmark: ReadonlyMap<string, readonly Finding[]>,
  now: Date,
  busy: string | undefined,
): Promise<string> {
  const sections = [...byBenchmark].map(([name, findings]) => `## ${name}\n\n${tableOf(findings)}\n`);
  const loadWas = busy === undefined ? '' : `; ${busy}, so rates and durations say little`;
  const text = [
    '# Performance, as measured',
    '',
    '`npm run bench -- --write` wrote this. Ratios are of medians of three rounds or more, measured in turns in one run, and of',
    'the 99th percentile of all their operations together; CPU in milliseconds per operation. `npm run bench` measures again',
    'and fails where a budget is missed.',
    '',
    `Measured on ${machine()}, ${now.toISOString().slice(0, 10)}${loadWas}.`,
    '',
    ...sections,
  ].join('\n');
  await writeFile(RESULTS, text);
  return RESULTS;
}

function machine(): string {
  const [cpu] = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? arch()}, ${memoryGb} GB, ${platform()}, Node ${process.versions.node}`;
}
