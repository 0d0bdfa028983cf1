import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import { copyOfSources } from '../harness/planted.js';
import { createRandom } from '../harness/random.js';
import { startServers, stopTestServers } from '../setup/test-servers.js';
import { endTests, failuresOf, runTests } from './run-tests.js';
import { changesOf, filesOf, mutatedFiles, weave, type Mutant } from './operators.js';

/** They start processes, know nothing of the mutated files, or read sources and bundle as text, which has the mutants in it. */
const NOT_RUN =
  /^test\/(?:crash-matrix|packaging|cluster|end-to-end|architecture|bench|bundle|cli|deployment|durable-names|replay|sandbox|sdk|tools)\/|^test\/sim\/plants/;
/** Of tests for one mutant, as they took without it: what is not found by then has survived. */
const PATIENCE_MS = 60_000;
const SPARE_MS = 60_000;
/** The tests mostly wait: one at a time leaves a core idle. */
const MUTANTS_PER_CORE = 2;
const CONFIG = ['--config', 'test/mutants/vitest.config.mjs'];
const testsOf = (names: readonly string[]) => ({ MUTANT_TESTS: JSON.stringify(names) });

export interface SampleOptions {
  /** Beginnings of `FILE:LINE`. Empty: everything. */
  readonly only: readonly string[];
  /** Beginnings of the paths of tests. Empty: all that need no Temporal server, and for the gateway its own. */
  readonly tests: readonly string[];
  readonly seed: number;
  readonly count: number;
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
  readonly ms: number;
  readonly reached: ReadonlySet<number>;
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
  const mutants = drawSample(options);
  const copy = copyOfSources();
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
    const bundle = await bundleWorkflows(join(copy, 'workflows', 'index.ts'), join(copy, 'mutants-bundle.js'));
    process.env['TEST_WORKFLOW_BUNDLE'] = bundle.codePath;

    const needsGateway = mutants.some(({ file }) => file.startsWith('src/gateway/'));
    const isChosen = (test: string) =>
      options.tests.length === 0 || options.tests.some((start) => test.startsWith(start));
    const tests = testFiles(needsGateway).filter(isChosen);
    say(`${mutants.length} mutants. First the tests without any: ${tests.length} files`);
    const files = await dryRun(copy, tests, say);

    const verdicts: Verdict[] = [];
    const waiting = [...mutants];
    const work = async () => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const verdict = await judge(copy, mutant, files);
        verdicts.push(verdict);
        say(`[${verdicts.length}/${mutants.length}] ${lineOf(verdict)}`);
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

/** Those that run without a Temporal server; of the gateway's, which nearly all want one, all. */
function testFiles(withGateway: boolean): string[] {
  return filesOf(['test'])
    .filter((file) => file.endsWith('.test.ts') && !NOT_RUN.test(file))
    .filter((file) => (withGateway && file.startsWith('test/gateway/')) || !needsTemporal(file));
}

function needsTemporal(test: string): boolean {
  const stack = 'test/harness/stack.ts';
  const texts = withImports(test);
  const own = [...texts].flatMap(([file, text]) => (file === stack ? [] : [text])).join('\n');
  return /TEST_TEMPORAL_|time: 'real'/.test(own) || (texts.has(stack) && !own.includes("time: 'skipping'"));
}

/** The text of a test, and of every file of test/ that it loads. */
function withImports(file: string, texts = new Map<string, string>()): ReadonlyMap<string, string> {
  const path = join(packageRoot(), file);
  if (texts.has(file) || !file.startsWith('test/') || !existsSync(path)) return texts;
  const text = readFileSync(path, 'utf8');
  texts.set(file, text);
  for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from '(\.[^']+)\.js'/gm))
    withImports(`${join(dirname(file), specifier)}.ts`, texts);
  return texts;
}

/** What each file of tests reaches, and how long it takes: most specific and fastest first. */
async function dryRun(
  copy: string,
  tests: readonly string[],
  say: (line: string) => void,
): Promise<readonly TestFile[]> {
  const reachFile = join(copy, 'reached.jsonl');
  const { report } = await runTests(copy, CONFIG, { ...testsOf(tests), MUTANT: '', MUTANT_REACH: reachFile });
  const reachedBy = new Map<string, readonly number[]>();
  for (const line of readFileSync(reachFile, 'utf8').trim().split('\n')) {
    const { file, reached } = JSON.parse(line) as { file: string; reached: readonly number[] };
    reachedBy.set(file, reached);
  }
  return report.testResults
    .flatMap((file) => {
      const name = file.name.slice(copy.length + 1);
      const [failure] = failuresOf(file);
      // It would find every mutant.
      if (failure !== undefined) say(`LEFT OUT, since it fails without any mutant: ${name}: ${failure}`);
      const reached = new Set(reachedBy.get(file.name));
      return failure === undefined ? [{ name, ms: file.endTime - file.startTime, reached }] : [];
    })
    .toSorted((a, b) => a.ms * a.reached.size - b.ms * b.reached.size);
}

async function judge(copy: string, mutant: Mutant, files: readonly TestFile[]): Promise<Verdict> {
  const startedMs = performance.now();
  const verdict = (result: Verdict['result'], by?: string): Verdict => {
    return { ...mutant, result, by, seconds: Math.round((performance.now() - startedMs) / 100) / 10 };
  };
  let plannedMs = 0;
  const tests = files
    .filter(({ reached }) => reached.has(mutant.id))
    .filter(({ ms }, place) => (plannedMs += ms) <= PATIENCE_MS || place === 0);
  if (tests.length === 0) return verdict('unreached');
  const env = { ...testsOf(tests.map(({ name }) => name)), MUTANT: String(mutant.id) };
  const { code, report } = await runTests(copy, CONFIG, env, SPARE_MS + 4 * plannedMs);
  if (code === null) return verdict('timed out');
  const failed = report.testResults.find((file) => failuresOf(file).length > 0);
  return code === 0 ? verdict('survived') : verdict('killed', failed && `${failed.name.slice(copy.length + 1)}: ${failuresOf(failed)[0]}`); // prettier-ignore
}
