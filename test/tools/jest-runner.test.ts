import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';

/** Test files by their names; each ends in a way that Jest has a report for. */
const FILES: Readonly<Record<string, string>> = {
  passing: `describe('outer', () => { it('inner', () => {}); it.each([1, 2])('of %i', (n) => expect(n).toBe(n)); });`,
  failing: `it('compares', () => expect(1).toBe(2)); it('goes on', () => {});`,
  hooks: `
    describe('before', () => { beforeAll(() => { throw new Error('broken'); }); it('is not reached', () => {}); });
    describe('each', () => { beforeEach(async () => { throw new Error('broken'); }); it('is not reached', () => {}); });
    describe('behind', () => { afterEach(() => { throw new Error('broken'); }); it('is reached', () => {}); });`,
  last: `afterAll(() => { throw new Error('broken'); }); it('passes', () => {});`,
  limit: `
    it('waits for ever', () => new Promise(() => {}), 50);
    describe('hook', () => { beforeAll(() => new Promise(() => {}), 50); it('is not reached', () => {}); });`,
  setLimit: `jest.setTimeout(50); it('waits for ever', () => new Promise(() => {}));`,
  only: `it('is left out', () => expect(1).toBe(2)); it.only('is chosen', () => {}); it.todo('is planned');`,
  skipped: `it.skip('is left out', () => expect(1).toBe(2)); (false ? it : it.skip)('is left out, too', () => {});`,
  assertions: `
    it('has made one', () => { expect.assertions(1); expect(1).toBe(1); });
    it('has made none', () => { expect.assertions(1); });
    it('has made none at all', () => { expect.hasAssertions(); });`,
  unloadable: `throw new Error('cannot be loaded');`,
  unresolved: `require('./not-there.js');`,
  rejection: `
    it('drops a rejection', async () => { Promise.reject(new Error('dropped')); await new Promise(setImmediate); });
    it('goes on', () => {});`,
  uncaught: `
    it('throws later', async () => {
      setImmediate(() => { throw new Error('later'); });
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    it('goes on', () => {});`,
  mocks: `
    const it1 = { answer: () => 1 };
    it('is replaced', () => { jest.spyOn(it1, 'answer').mockReturnValue(2); expect(it1.answer()).toBe(2); });
    it('is back', () => { jest.restoreAllMocks(); expect(it1.answer()).toBe(1); });
    it('has a clock of its own', () => {
      jest.useFakeTimers({ now: 0 });
      expect(Date.now()).toBe(0);
      jest.useRealTimers();
      expect(Date.now()).not.toBe(0);
    });`,
  related: `const { one } = require('./source.js'); it('is one', () => expect(one).toBe(1));`,
};

/** Test files that leave something behind in the worker process, and what their report names. */
const LEFT_BEHIND: Readonly<Record<string, readonly [source: string, named: string]>> = {
  timer: [`it('starts a timer', () => { setTimeout(() => {}, 3600000); });`, 'resource Timeout'],
  server: [
    `it('listens', (done) => { require('node:http').createServer().listen(0, '127.0.0.1', done); });`,
    'resource TCPServerWrap',
  ],
  global: [`it('writes a global', () => { globalThis.left = 1; });`, 'global left'],
  variable: [`it('sets a variable', () => { process.env.LEFT = '1'; });`, 'environment variable LEFT'],
  listener: [`it('listens', () => { process.on('SIGUSR2', () => {}); });`, 'listener of the process SIGUSR2'],
  clock: [`it('stops the clock', () => { jest.useFakeTimers(); });`, 'fake timers'],
};

/** Its second test needs the first one. */
const ONE_AFTER_THE_OTHER = `
  let runs = 0;
  beforeAll(() => { runs = 0; });
  it('is (the) first', () => { runs += 1; expect(runs).toBe(1); });
  it('is second', () => expect(runs).toBe(1));`;

/** Passes in a process that has run no other file like it. */
const FIRST_OF_ITS_PROCESS = `
  const seen = Symbol.for('seen');
  const isFirst = globalThis[seen] === undefined;
  globalThis[seen] = true;
  it('is the first of its process', () => expect(isFirst).toBe(true));`;

interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
interface Run {
  readonly exitCode: number;
  readonly report: Report;
}

let folder: string;
const open = new Set<ChildProcess>();

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'towline-jest-')));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const setup = join(packageRoot(), 'test', 'setup', 'jest');
  for (const name of ['tests', 'left-behind', 'alone', 'isolated']) mkdirSync(join(folder, name));
  write('tests/source.js', 'exports.one = 1;');
  for (const [name, text] of Object.entries(FILES)) write(`tests/${name}.test.js`, text);
  for (const [name, [text]] of Object.entries(LEFT_BEHIND)) write(`left-behind/${name}.test.js`, text);
  const options = { rootDir: folder, transform: {}, watchman: false, workerIdleMemoryLimit: '1GB', cacheDirectory: join(folder, 'cache') }; // prettier-ignore
  const ours = { testRunner: join(setup, 'test-runner.mjs'), testEnvironment: join(setup, 'environment.mjs') };
  for (const name of ['one', 'two', 'three']) write(`isolated/${name}.test.js`, FIRST_OF_ITS_PROCESS);
  write('alone/one-after-the-other.test.js', ONE_AFTER_THE_OTHER);
  write('alone/package.json', '{"type":"module"}');
  write('package.json', '{}');
  write('jest.json', JSON.stringify({ ...options, testEnvironment: require_('jest-environment-node') }));
  write('ours.json', JSON.stringify({ ...options, ...ours, displayName: 'unit' }));
});
afterAll(async () => {
  for (const child of open) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true, force: true });
});

const require_ = (name: string) => join(packageRoot(), 'node_modules', name, 'build', 'index.js');

/** Jest in that folder. */
function start(
  config: 'jest' | 'ours',
  args: readonly string[],
  env: Record<string, string> = {},
  program = [join(packageRoot(), 'node_modules', 'jest', 'bin', 'jest.js')],
): ChildProcess {
  const settings = ['--config', join(folder, `${config}.json`), '--maxWorkers=2'];
  const child = spawn(process.execPath, [...program, ...settings, ...args], {
    cwd: folder,
    // This run itself may be one with each test alone.
    env: { ...process.env, TEST_EACH_ALONE: undefined, ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  open.add(child);
  child.once('close', () => open.delete(child));
  return child;
}

async function run(
  config: 'jest' | 'ours',
  args: readonly string[],
  env?: Record<string, string>,
  program?: string[],
): Promise<Run> {
  const outputFile = join(folder, `${config}-report.json`);
  const child = start(config, [...args, '--json', `--outputFile=${outputFile}`], env, program);
  child.stderr?.resume();
  const [exitCode] = (await once(child, 'close')) as [number];
  return { exitCode, report: JSON.parse(readFileSync(outputFile, 'utf8')) as Report };
}

/** What a report says of each test; of messages, their first line. */
const told = ({ testResults }: Report) =>
  Object.fromEntries(
    testResults.map(({ name, status, message, assertionResults }) => [
      basename(name, '.test.js'),
      {
        status,
        isBroken: assertionResults.length === 0 && message !== '',
        tests: assertionResults.map((test) => ({
          fullName: test.fullName,
          status: test.status,
          errors: test.failureMessages.map((text) => text.split('\n')[0]),
        })),
      },
    ]),
  );

describe('Jest with our test runner', () => {
  it('reports files and tests as Jest with its own does, whatever goes wrong in them, with the same exit code', async () => {
    const [theirs, ours] = [await run('jest', ['tests']), await run('ours', ['tests'])];
    expect(told(ours.report)).toEqual(told(theirs.report));
    expect(ours.exitCode).toBe(theirs.exitCode);
    expect(ours.exitCode).toBe(1);
    expect(Object.keys(told(ours.report)).toSorted()).toEqual(Object.keys(FILES).toSorted());
  });

  it('runs only the tests whose full name fits -t, and ends with exit code 0 if they pass', async () => {
    const { exitCode, report } = await run('ours', ['tests/failing', 'tests/passing', '-t', 'outer of 2']);
    const passed = report.testResults
      .flatMap((file) => file.assertionResults)
      .filter(({ status }) => status === 'passed');
    expect([exitCode, passed.map(({ fullName }) => fullName)]).toEqual([0, ['outer of 2']]);
  });

  it('runs the test files that load a source with --findRelatedTests', async () => {
    const { exitCode, report } = await run('ours', ['--findRelatedTests', join(folder, 'tests', 'source.js')]);
    expect([exitCode, Object.keys(told(report))]).toEqual([0, ['related']]);
  });

  it('fails a file that leaves something behind, and names it', async () => {
    const { exitCode, report } = await run('ours', ['left-behind']);
    const messages = Object.fromEntries(
      report.testResults.map(({ name, message }) => [basename(name, '.test.js'), message]),
    );
    const expected = Object.entries(LEFT_BEHIND).map(([name, [, named]]) => [name, expect.stringContaining(named)]);
    expect(messages).toEqual(Object.fromEntries(expected));
    expect(exitCode).toBe(1);
  });

  it('fails a test that does not pass without the others of its file, when each is run alone', async () => {
    // As a whole it passes: what does not is not run alone.
    const { exitCode, report } = await run('ours', ['alone'], { TEST_EACH_ALONE: '1' });
    const statuses = report.testResults.flatMap((file) => file.assertionResults.map(({ status }) => status));
    expect([exitCode, statuses]).toEqual([1, ['passed', 'failed']]);
  });

  it('runs each file in a process of its own with npm test -- --isolate', async () => {
    const npmTest = [join(packageRoot(), 'tools', 'test.mjs'), '--project', 'unit'];
    // In two processes, one of the three files would be its second.
    const { exitCode, report } = await run('ours', ['isolated', '--isolate'], {}, npmTest);
    expect([exitCode, report.numTotalTests]).toEqual([0, 3]);
  });

  it('runs a file anew with --watchAll if a source changes, with the source as it is by then', async () => {
    const child = start('ours', ['--watchAll', 'tests/related']);
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const until = async (text: string) => {
      while (!output.includes(text)) await once(child.stderr as NodeJS.ReadableStream, 'data');
      output = '';
    };
    await until('1 passed, 1 total');
    writeFileSync(join(folder, 'tests', 'source.js'), 'exports.one = 2;');
    await until('1 failed, 1 total');
    writeFileSync(join(folder, 'tests', 'source.js'), 'exports.one = 1;');
    await until('1 passed, 1 total');
  });
});
