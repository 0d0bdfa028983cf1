import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { bundleOf, copyOfSources } from '../harness/planted.js';
import { createRandom } from '../harness/random.js';
import { startServers, stopTestServers } from '../setup/test-servers.js';
import { endTests, failuresOf, NO_MUTANT, runTests } from './run-tests.js';
import { isFound } from './score.js';
import { changesOf, filesOf, mutatedFiles, weave, type Mutant } from './operators.js';

/** They start processes, know nothing of the mutated files, or read sources and bundle as text, which has the mutants in it. */
const NOT_RUN =
  /^test\/(?:crash-matrix|packaging|cluster|end-to-end|architecture|bench|bundle|cli|deployment|durable-names|replay|sandbox|sdk|tools)\/|^test\/sim\/plants/;
/** Of tests for one mutant, as they took without it: what is not found by then has survived. */
const PATIENCE_MS = 60_000;
const SPARE_MS = 60_000;
/** The tests mostly wait: one at a time leaves a core idle. */
const MUTANTS_PER_CORE = 2;

export interface SampleOptions {
  /** Beginnings of `FILE:LINE`. Empty: everything. */
  readonly only: readonly string[];
  /** Beginnings of the paths of tests. Empty: all that may run. */
  readonly tests: readonly string[];
  readonly seed: number;
  readonly count: number;
  /** What an earlier run has found. What it has not is judged again, in place of a new sample. Empty: there was none. */
  readonly before: readonly Verdict[];
  /** Of the report. */
  readonly json: string | undefined;
}

export interface Verdict extends Mutant {
  /** `unreached`: no test comes there. */
  readonly result: 'killed' | 'timed out' | 'survived' | 'unreached';
  /** The test that failed. */
  readonly by?: string | undefined;
  readonly seconds: number;
}

interface TestFile {
  readonly name: string;
  /** What it takes besides its tests. */
  readonly setUpMs: number;
  readonly tests: readonly { readonly name: string; readonly ms: number; readonly reached: ReadonlySet<number> }[];
  /** Outside of its tests. */
  readonly reached: ReadonlySet<number>;
  /** Whether a part of its tests can be run alone, or only all of them, or none, since they fail without any mutant. */
  runs: 'in parts' | 'whole' | 'not at all';
}

/** Tests of one file. */
interface Chosen {
  readonly file: TestFile;
  readonly names: readonly string[];
  readonly ms: number;
  /** How many mutants they reach: the fewer, the more they are about this one. */
  readonly reach: number;
}

/** A verdict in one line; in three, with both texts, if no test found the mutant. */
export function lineOf({ file, line, was, becomes = '(removed)', result, by, seconds }: Verdict): string {
  const place = `${file}:${line}`;
  const short = (text: string) => text.replaceAll(/\s+/g, ' ');
  if (result === 'survived' || result === 'unreached')
    return `${result.toUpperCase()} ${place} (${seconds} s)\n  - ${short(was)}\n  + ${short(becomes)}`;
  return `${result} ${place} (${seconds} s) ${by ?? ''}`;
}

/** Draws a sample of all mutants, and runs each against the tests that reach it. */
export async function judgeSample(options: SampleOptions, say: (line: string) => void): Promise<readonly Verdict[]> {
  const mutants = options.before.length > 0 ? notFound(options.before) : drawSample(options);
  const copy = copyOfSources('dist');
  const clean = () => {
    endTests();
    rmSync(copy, { recursive: true, force: true });
  };
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  try {
    await startServers();
    for (const file of new Set(mutants.map((mutant) => mutant.file))) {
      const text = readFileSync(join(copy, file), 'utf8');
      writeFileSync(join(copy, file), weave(text, mutants.filter((mutant) => mutant.file === file))); // prettier-ignore
    }
    process.env['TEST_WORKFLOW_BUNDLE'] = await bundleOf(copy);

    const isChosen = (test: string) =>
      options.tests.length === 0 || options.tests.some((start) => test.startsWith(start));
    const tests = filesOf(['test']).filter(
      (file) => file.endsWith('.test.ts') && !NOT_RUN.test(file) && isChosen(file),
    );
    say(`${mutants.length} mutants. First the tests without any: ${tests.length} files`);
    const files = await dryRun(copy, tests, say);

    const verdicts: Verdict[] = options.before.filter(isFound);
    const waiting = [...mutants];
    const total = verdicts.length + mutants.length;
    const work = async () => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const verdict = await judge(copy, mutant, files, say);
        verdicts.push(verdict);
        say(`[${verdicts.length}/${total}] ${lineOf(verdict)}`);
        if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(verdicts, null, 1));
      }
    };
    await Promise.all(Array.from({ length: MUTANTS_PER_CORE * availableParallelism() }, work));
    return verdicts;
  } finally {
    process.removeListener('exit', clean);
    clean();
    await stopTestServers();
  }
}

/** @throws Error if the sources are other ones by now */
function notFound(before: readonly Verdict[]): readonly Mutant[] {
  return before
    .filter((verdict) => !isFound(verdict))
    .map(({ file, line, start, was, becomes }, id) => {
      const changes = changesOf(file, readFileSync(join(packageRoot(), file), 'utf8'));
      const same = changes.find((change) => change.start === start && change.was === was && change.becomes === becomes);
      if (same === undefined) throw new Error(`${file}:${line} has changed since: draw another sample.`);
      return { ...same, id };
    });
}

function drawSample({ only, seed, count }: SampleOptions): readonly Mutant[] {
  const isAsked = (place: string) => only.length === 0 || only.some((start) => place.startsWith(start));
  const all = mutatedFiles()
    .flatMap((file) => changesOf(file, readFileSync(join(packageRoot(), file), 'utf8')))
    .filter(({ file, line }) => isAsked(`${file}:${line}`));
  if (all.length === 0) throw new Error(`There is nothing to change in ${only.join(', ')}.`);
  const random = createRandom(seed);
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [all[last], all[other]] = [all[other] as never, all[last] as never];
  }
  return all.slice(0, count).map((change, id) => ({ ...change, id }));
}

/** What each test reaches, and how long it takes. */
async function dryRun(
  copy: string,
  tests: readonly string[],
  say: (line: string) => void,
): Promise<readonly TestFile[]> {
  const reachFile = join(copy, 'reached.jsonl');
  const tested = await runTests(copy, { files: tests, mutant: 'all', env: { MUTANT_REACH: reachFile } });
  const reachedBy = new Map<string, ReadonlySet<number>>();
  for (const line of readFileSync(reachFile, 'utf8').trim().split('\n')) {
    const { file, test, reached } = JSON.parse(line) as { file: string; test: string; reached: readonly number[] };
    reachedBy.set(`${file}\n${test}`, new Set(reached));
  }
  return tested.flatMap((file): TestFile[] => {
    const name = file.path.slice(copy.length + 1);
    const [failure] = failuresOf(file);
    // It would find every mutant.
    if (failure !== undefined) say(`LEFT OUT, since it fails without any mutant: ${name}: ${failure}`);
    if (failure !== undefined) return [];
    const reachedIn = (test: string) => reachedBy.get(`${file.path}\n${test}`) ?? new Set();
    const passed = file.tests.filter(({ status }) => status === 'passed');
    if (passed.length > 0 && !reachedBy.has(`${file.path}\n`))
      throw new Error(`What the tests of ${name} reach was not recorded.`);
    const each = passed.map((test) => ({ name: test.name, ms: test.ms, reached: reachedIn(test.name) }));
    const setUpMs = Math.max(0, file.ms - each.reduce((sum, { ms }) => sum + ms, 0));
    return [{ name, setUpMs, tests: each, reached: reachedIn(''), runs: 'in parts' }];
  });
}

/** The tests of the file that reach the mutant; all, if only what surrounds them does. */
function chosenFrom(file: TestFile, id: number): readonly Chosen[] {
  const reaching = file.tests.filter(({ reached }) => reached.has(id));
  if (file.runs === 'not at all' || (reaching.length === 0 && !file.reached.has(id))) return [];
  const tests = reaching.length === 0 || file.runs === 'whole' ? file.tests : reaching;
  const ms = tests.reduce((sum, test) => sum + test.ms, file.setUpMs);
  const reach = new Set(tests.flatMap(({ reached }) => [...reached])).size;
  return [{ file, names: tests.map(({ name }) => name), ms, reach: Math.max(1, reach) }];
}

interface Failed {
  readonly file: string;
  readonly test: string;
}

async function judge(
  copy: string,
  mutant: Mutant,
  files: readonly TestFile[],
  say: (line: string) => void,
): Promise<Verdict> {
  const startedMs = performance.now();
  const verdict = (result: Verdict['result'], by?: string): Verdict => {
    return { ...mutant, result, by, seconds: Math.round((performance.now() - startedMs) / 100) / 10 };
  };
  for (;;) {
    const reaching = files
      .flatMap((file) => chosenFrom(file, mutant.id))
      .toSorted((a, b) => likeness(b, mutant) - likeness(a, mutant) || a.ms * a.reach - b.ms * b.reach);
    let plannedMs = 0;
    const chosen = reaching.filter(({ ms }, place) => (plannedMs += ms) <= PATIENCE_MS || place === 0);
    if (chosen.length === 0) return verdict('unreached');
    const met = await meet(copy, mutant.id, chosen);
    if (met === 'not done') return verdict('timed out');
    if (met === 'passed') return verdict('survived');
    // A test that does not pass alone, or passes by chance, has found nothing.
    const alone = chosen.filter(({ file }) => file.name === met.file);
    if ((await meet(copy, NO_MUTANT, alone)) === 'passed') return verdict('killed', `${met.file}: ${met.test}`);
    for (const { file } of alone) {
      file.runs = file.runs === 'in parts' ? 'whole' : 'not at all';
      say(`WITHOUT ANY MUTANT it fails, and now runs ${file.runs}: ${file.name}`);
    }
  }
}

/** How many words the names of both files share: tests of what was changed come first. */
function likeness({ file }: Chosen, mutant: Mutant): number {
  const words = basename(mutant.file, '.ts').split('-');
  return basename(file.name, '.test.ts').split('-').filter((word) => words.includes(word)).length; // prettier-ignore
}

/** Runs tests with a mutant switched on. A process of them may loop for ever: then Jest waits, until it is ended. */
async function meet(copy: string, mutant: number, chosen: readonly Chosen[]): Promise<'passed' | 'not done' | Failed> {
  const files = chosen.map(({ file }) => file.name);
  const names = chosen.flatMap((each) => each.names);
  const limitMs = SPARE_MS + 4 * chosen.reduce((sum, { ms }) => sum + ms, 0);
  const tested = await runTests(copy, { files, names, mutant, limitMs });
  const failed = tested.find((file) => failuresOf(file).length > 0);
  if (failed !== undefined) return { file: failed.path.slice(copy.length + 1), test: String(failuresOf(failed)[0]) };
  const passed = new Set(
    tested.flatMap(({ tests }) => tests.filter(({ status }) => status === 'passed').map(({ name }) => name)),
  );
  return names.every((name) => passed.has(name)) ? 'passed' : 'not done';
}
