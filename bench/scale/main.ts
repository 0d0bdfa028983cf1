/** `npm run scale [-- --write]`: what 1 to 10,000 flows a second need, as docs/scale.md says it; or writes it there. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Results } from '../report/write-results.js';
import { limitsOfSmall, measuredIn, tablesOf, withTables } from './page.js';
import { loadOf, simulateWaits } from './queues.js';

const PAGE = new URL('../../docs/scale.md', import.meta.url);
const RUN = { requests: 40_000, seed: 1 };
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const results = readFileSync(new URL('../results.json', import.meta.url), 'utf8');
const measured = measuredIn(JSON.parse(results) as Results);
const tables = tablesOf(measured);
for (const table of tables) say(`${table}\n`);
if (process.argv.includes('--write')) writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tables));

const limits = limitsOfSmall(measured.costs);
for (const share of [0.5, 0.9, 1.1]) {
  const rate = (limits[0]?.flowsPerSecond ?? Number.NaN) * share;
  const waits = limits.map(({ station }) => ({ station, ...simulateWaits(station, rate, RUN) }));
  const worst = waits.toSorted((a, b) => b.p99Ms - a.p99Ms)[0];
  if (worst === undefined) continue;
  const load = (100 * loadOf(worst.station, rate)).toFixed(0);
  say(
    `At ${rate.toFixed(0)} flows/s the longest wait is for "${worst.station.name}" (${load} % busy): p99 ${worst.p99Ms.toFixed(0)} ms.`,
  );
}
