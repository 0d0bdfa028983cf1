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

interface JestReport {
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
    const { failed, broken } = await runTests(copy, mutant.project, mutant.tests);
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
  for (const project of new Set(mutants.map((mutant) => mutant.project))) {
    const tests = new Set(mutants.filter((mutant) => mutant.project === project).flatMap((mutant) => mutant.tests));
    const { failed, broken } = await runTests(copy, project, [...tests]);
    const problem = broken ?? failed.join('; ');
    if (problem !== '') throw new Error(`Without any bug, tests of ${project} do not pass: ${problem}`);
  }
}

async function runTests(copy: string, project: string, tests: readonly string[]): Promise<Verdict> {
  const report = join(copy, 'mutant-report.json');
  rmSync(report, { force: true });
  const jest = join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
  const flags = ['--experimental-vm-modules', '--no-warnings', jest, ...tests, '--runInBand', '--json'];
  const { output } = await runToOutput([...flags, `--outputFile=${report}`, '--selectProjects', project], copy);
  const { testResults } = readReport(report, output);
  const broken = testResults.find((suite) => suite.assertionResults.length === 0);
  const failed = testResults.flatMap((suite) => suite.assertionResults.filter((test) => test.status === 'failed'));
  return { failed: failed.map((test) => test.fullName), broken: broken && `${broken.name}: ${broken.message}` };
}

function readReport(file: string, output: string): JestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestReport;
  } catch {
    throw new Error(`jest ended without a report:\n${output}`);
  }
}

function say(text: string): 0 {
  console.log(text);
  return 0;
}
