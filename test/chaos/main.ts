import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { REPEAT_MODES, type RepeatMode } from '../../src/sandbox/settings.js';
import { reportingBundle } from '../harness/pairs.js';
import { pairsIn, unknownTo } from '../model/known-pairs.js';
import { play } from './play.js';
import { htmlOf } from './page.js';
import { judgementOf, textOf } from './report.js';
import { listBugs, selfTest, SELF_TEST_HELP } from './self-test/main.js';
import { DATABASES, type Database } from './world.js';

const HELP = `npm run chaos [-- --flows N --seed S --database D --repeat-mode M --rate R --out FOLDER]
npm run chaos -- --overnight
npm run chaos -- --self-test [NAME…]

Runs the whole product as processes (Temporal, sandbox, 2 gateways, 3 workers) with wires between them, orders flows of
all kinds, and breaks everything meanwhile: processes are killed and frozen, wires cut, answers lost, webhooks doubled,
reordered, dropped and forged. Then a judge of its own holds six witnesses against one another.

  --flows N         how many flows (500)
  --seed S          what goes wrong (1); the same seed nearly repeats
  --database D      embedded, or postgres, which needs Postgres on this machine (embedded)
  --repeat-mode M   what the service does with a reference that it has executed: same-result, conflict, rejected or
                    execute-again (by the seed)
  --rate R          flows a second (4)
  --out FOLDER      where report.json and report.html go (chaos-report)
  --overnight       20,000 flows
  --pairs           is each step with its result one that the world of the model knows (test/model)? Exits with 1 if not
  --self-test       plants bugs in copies of the sources, each of which must turn the judge red

Exits with 0 if it is green, 1 if an invariant is violated, 3 if too little went wrong for that to mean anything, and 4 if
a bar of recovery or of requests is missed.

${SELF_TEST_HELP}`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const isOneOf = <T extends string>(words: readonly T[], word: string): word is T =>
  (words as readonly string[]).includes(word);
const EXIT_OF = { green: 0, RED: 1, INVALID: 3, MISSED: 4 } as const;
const OVERNIGHT = '20000';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      flows: { type: 'string' },
      seed: { type: 'string', default: '1' },
      rate: { type: 'string', default: '4' },
      database: { type: 'string', default: 'embedded' },
      'repeat-mode': { type: 'string' },
      out: { type: 'string', default: 'chaos-report' },
      overnight: { type: 'boolean', default: false },
      pairs: { type: 'boolean', default: false },
      'self-test': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return said(HELP);
  if (values['self-test']) return values.list ? said(listBugs()) : selfTest(positionals, say);
  const flows = Number(values.flows ?? (values.overnight ? OVERNIGHT : '500'));
  const [seed, rate] = [Number(values.seed), Number(values.rate)];
  const { database, out } = values;
  const repeatMode = values['repeat-mode'] ?? modeOf(seed);
  const isNumeric = [flows, seed].every(Number.isInteger) && flows >= 20 && rate > 0;
  if (!isNumeric || !isOneOf<Database>(DATABASES, database) || !isOneOf<RepeatMode>(REPEAT_MODES, repeatMode)) {
    say('--flows takes a whole number of at least 20, --seed a whole number, --rate a number above 0, --database');
    say(`embedded or postgres, and --repeat-mode one of ${REPEAT_MODES.join(', ')}.`);
    say('`npm run chaos -- --help` says more.');
    return 2;
  }
  const reporting = values.pairs ? await reportingBundle() : undefined;
  const pairsBundle = reporting === undefined ? {} : { pairsBundlePath: reporting.codePath };
  const run = await play({ flows, seed, rate, database, repeatMode, say, ...pairsBundle }).finally(reporting?.close);
  const folder = resolve(out);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'report.json'), `${JSON.stringify(run, null, 1)}\n`);
  await writeFile(join(folder, 'report.html'), htmlOf(run));
  say(textOf(run));
  say(`  written to   ${join(folder, 'report.html')} and report.json`);
  const unknown = unknownTo(pairsIn('whole'), run.verdict.pairs);
  if (values.pairs) say(`  ${run.verdict.pairs.length} pairs of step and result; none of the model's world:`);
  for (const pair of unknown) say(`    ${pair}`);
  return EXIT_OF[judgementOf(run)] || (unknown.length > 0 ? 1 : 0);
}

/** The four modes in turn. */
const modeOf = (seed: number): RepeatMode => REPEAT_MODES[Math.abs(seed) % REPEAT_MODES.length] ?? 'execute-again';

function said(text: string): 0 {
  say(text);
  return 0;
}

process.exitCode = await main();
