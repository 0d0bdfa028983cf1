import { readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundleOf, copyOfSources, plant } from '../harness/planted.js';
import { isInWorkflows } from '../plants/index.js';
import { startServers, stopTestServers } from '../setup/test-servers.js';
import { NAMED, type Mutant } from './named.js';
import { endTests, failuresOf, NO_MUTANT, runTests, type TestRun } from './run-tests.js';
import { judgeSample, type Verdict } from './sampled.js';
import { scoreOf, summaryOf } from './score.js';

const SAMPLE = 300;
const LEAST_PERCENT = 85;

const HELP = `npm run mutants                  the bugs that were planted by hand, then a sample of all small changes
npm run mutants -- NAME…         the bugs of these names alone; --list shows them, and what they do
npm run mutants -- --sample 0    all bugs that were planted by hand, and no sample

  --sample N      how many changes are drawn (default ${SAMPLE})
  --seed S        another sample (default 1)
  --only PATH     of the files that begin so, or FILE:LINE; may be repeated. Without the bugs planted by hand
  --tests PATH    against the tests that begin so; may be repeated
  --json FILE     every change of the sample, and what the tests said
  --again FILE    that file: what was not found meets the tests again, as they are by now. The score is that of the whole file

A bug that was planted by hand must turn a test red that is named beside it; those must pass without any bug.

The sample is drawn from all conditions that are always true or false, operators, conditions of SQL, results, statements,
strings and lists of the code that decides about money or brings its events. All of it is in one copy of the sources, each
change switched on for one run of the tests that reach it. Those that start processes are left out.

Exit code: 0 if every bug was found, and ${LEAST_PERCENT} % of the sample.`;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: String(SAMPLE) },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', multiple: true, default: [] },
      tests: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      again: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return say(HELP);
  if (values.list) return say(NAMED.map(({ name, story }) => `${name.padEnd(38)}${story}`).join('\n'));
  const unknown = names.find((name) => NAMED.every((mutant) => mutant.name !== name));
  if (unknown !== undefined) throw new Error(`No bug is called "${unknown}"; npm run mutants -- --list shows them.`);
  const [count = 0, seed = 0] = [values.sample, values.seed].map(Number);
  if (!Number.isInteger(count) || !Number.isInteger(seed)) throw new Error('--sample and --seed are whole numbers.');
  const before = values.again === undefined ? [] : (JSON.parse(readFileSync(values.again, 'utf8')) as Verdict[]);
  const missed = values.only.length > 0 || before.length > 0 ? 0 : await huntNamed(names);
  if (names.length > 0 || count === 0) return missed;
  const { only, tests, json } = values;
  const verdicts = await judgeSample({ only, tests, seed, count, json, before }, say);
  say(`\n${summaryOf(verdicts, before.length > 0)}`);
  return scoreOf(verdicts) * 100 < LEAST_PERCENT ? 1 : missed;
}

async function huntNamed(names: readonly string[]): Promise<number> {
  const copy = copyOfSources('dist');
  const clean = () => {
    endTests();
    rmSync(copy, { recursive: true, force: true });
  };
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  try {
    await startServers();
    return await hunt(
      copy,
      NAMED.filter(({ name }) => names.length === 0 || names.includes(name)),
    );
  } finally {
    process.removeListener('exit', clean);
    clean();
    await stopTestServers();
  }
}

async function hunt(copy: string, mutants: readonly Mutant[]): Promise<number> {
  // Of a test that fails anyway, the failure would show nothing.
  const before = await failedIn(copy, { files: [...new Set(mutants.flatMap(({ tests }) => tests))], mutant: 'all' });
  if (before.length > 0) throw new Error(`Without any bug, the tests do not pass: ${before.join('; ')}`);
  let found = 0;
  for (const { name, plants, tests } of mutants) {
    const restore = plant(copy, ...plants);
    const bundle = plants.some(isInWorkflows) ? { TEST_WORKFLOW_BUNDLE: await bundleOf(copy) } : {};
    const [failed] = await failedIn(copy, { files: tests, mutant: NO_MUTANT, env: bundle });
    restore();
    if (failed !== undefined) found += 1;
    say(`${name.padEnd(38)}${failed === undefined ? 'NOT FOUND' : `found by "${failed}"`}`);
  }
  say(`${found} of ${mutants.length} bugs found`);
  return found === mutants.length ? 0 : 1;
}

async function failedIn(copy: string, run: TestRun): Promise<readonly string[]> {
  const files = await runTests(copy, run);
  const broken = files.find(({ tests }) => tests.length === 0);
  if (broken !== undefined)
    throw new Error(`${broken.path} could not run, which shows nothing: ${broken.problem ?? ''}`);
  return files.flatMap((file) => failuresOf(file));
}

function say(text: string): 0 {
  console.log(text);
  return 0;
}
