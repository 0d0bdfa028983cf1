import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyOfSources, plant } from '../harness/planted.js';
import { runToOutput } from '../harness/run-to-output.js';
import { NAMED, type Mutant } from './named.js';

const HELP = `npm run mutants [-- NAME…]   plants each bug (or those named), and shows which test finds it
npm run mutants -- --list    the bugs, and what they do

Each bug is planted in a copy of the sources. The tests that are named beside it run there: first without any bug, when they
must pass, then with it, when one of them must fail. Exit code: 0 if every bug was found, 1 if one was not.`;

interface Verdict {
  readonly failed: readonly string[];
  /** A file of tests that could not run. */
  readonly broken: string | undefined;
}

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(names: readonly string[]): Promise<number> {
  if (names.includes('--help')) return say(HELP);
  if (names.includes('--list')) return say(NAMED.map(({ name, story }) => `${name.padEnd(30)}${story}`).join('\n'));
  const unknown = names.find((name) => NAMED.every((mutant) => mutant.name !== name));
  if (unknown !== undefined) throw new Error(`No bug is called "${unknown}"; npm run mutants -- --list shows them.`);
  const copy = copyOfSources();
  try {
    return await hunt(
      copy,
      NAMED.filter(({ name }) => names.length === 0 || names.includes(name)),
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function hunt(copy: string, mutants: readonly Mutant[]): Promise<number> {
  await requireGreen(copy, mutants);
  let found = 0;
  for (const mutant of mutants) {
    const restore = plant(copy, mutant);
    const { failed, broken } = await runTests(copy, mutant.tests);
    restore();
    if (broken !== undefined)
      throw new Error(`${mutant.name}: its tests could not run, which shows nothing: ${broken}`);
    if (failed.length > 0) found += 1;
    const by = failed.length > 0 ? `found by ${failed.length}: "${failed[0]}"` : 'NOT FOUND';
    say(`${mutant.name.padEnd(30)}${by}`);
  }
  say(`${found} of ${mutants.length} bugs found`);
  return found === mutants.length ? 0 : 1;
}

/** Of a test that fails anyway, the failure would show nothing. */
async function requireGreen(copy: string, mutants: readonly Mutant[]): Promise<void> {
  const { failed, broken } = await runTests(copy, [...new Set(mutants.flatMap(({ tests }) => tests))]);
  const problem = broken ?? failed.join('; ');
  if (problem !== '') throw new Error(`Without any bug, the tests do not pass: ${problem}`);
}

async function runTests(copy: string, tests: readonly string[]): Promise<Verdict> {
  const report = join(copy, 'mutant-report.json');
  rmSync(report, { force: true });
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  const flags = ['--project=unit', '--project=servers', '--reporter=json', `--outputFile=${report}`];
  const { output } = await runToOutput([vitest, 'run', ...tests, ...flags], copy);
  const { testResults } = readReport(report, output);
  const broken = testResults.find((suite) => suite.assertionResults.length === 0);
  const failed = testResults.flatMap((suite) => suite.assertionResults.filter((test) => test.status === 'failed'));
  return { failed: failed.map((test) => test.fullName), broken: broken && `${broken.name}: ${broken.message}` };
}

function readReport(file: string, output: string): TestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    throw new Error(`the tests ended without a report:\n${output}`);
  }
}

function say(text: string): 0 {
  console.log(text);
  return 0;
}
