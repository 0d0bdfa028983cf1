// `npm test [-- [--check] [--isolate] [--each-alone] [--order ORDER] Jest's arguments]`: from a fresh clone to test results.
// `--check` adds type check and lint. `--isolate` gives each test file a worker process of its own. `--each-alone`
// runs each test of a file once more without the others. `--order reverse` and `--order shuffle:SEED` run the files in
// another order. `npm run crash-matrix`, `npm run packaging` and
// `npm run cluster-test` come here with `--project NAME`: those tests kill processes, install packages and start whole
// stacks, and need the machine for themselves. `npm run crash-matrix -- --full` crosses every operation and crash point
// with every repeat mode and database.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';
import { runStep, say } from './step.mjs';

await runMain(async (args) => {
  const { isChecked, isFull, isIsolated, isEachAlone, order, projects, jestArgs } = readArguments(args);
  await setUp();
  if (isFull) process.env.CRASH_MATRIX = 'full';
  if (isEachAlone) process.env.TEST_EACH_ALONE = '1';
  if (order !== undefined) process.env.TEST_ORDER = order;
  const checks = isChecked ? await check() : 0;
  if (projects.some((project) => project !== 'unit')) await getServers();
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  // With a limit of 0, a worker process is replaced by another one after each file; 1 would be all of the memory.
  const isolation = isIsolated ? ['--workerIdleMemoryLimit=0'] : [];
  const tests = await runToEnd([jest, ...jestArgs, ...isolation, '--selectProjects', ...projects], { cwd: root });
  return tests || checks;
});

function readArguments(args) {
  const rest = [...args];
  const takeFlag = (name) => {
    const place = rest.indexOf(name);
    if (place === -1) return false;
    rest.splice(place, 1);
    return true;
  };
  const takeValues = (name) => {
    const values = [];
    for (let place = rest.indexOf(name); place !== -1; place = rest.indexOf(name)) {
      const [, value] = rest.splice(place, 2);
      if (value === undefined) throw new Failure(`${name} needs a value.`);
      values.push(value);
    }
    return values;
  };
  const order = takeValues('--order').at(-1);
  if (order !== undefined && !/^(reverse|shuffle:\d+)$/.test(order))
    throw new Failure(`--order is "${order}": give "reverse", or "shuffle:" and a whole number.`);
  const named = takeValues('--project').flatMap((names) => names.split(','));
  const projects = named.length > 0 ? named : ['main'];
  const [isChecked, isFull, isIsolated, isEachAlone] = ['--check', '--full', '--isolate', '--each-alone'].map(takeFlag);
  return { isChecked, isFull, isIsolated, isEachAlone, order, projects, jestArgs: rest };
}

/** The tests' setup finds them again, in the cache; here there is room for minutes of progress. */
async function getServers() {
  const load = (file) => import(pathToFileURL(join(root, 'dist', 'src', 'dev-server', file)).href);
  const { findServerExecutable } = await load('find-server.js');
  try {
    await findServerExecutable({ env: process.env, log: say });
  } catch (error) {
    throw error.name === 'NoTemporalServerError' ? new Failure(error.message) : error;
  }
}

async function check() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  let failed = 0;
  for (const script of ['typecheck', 'lint']) {
    const { code, output } = await runStep(script, npm, ['run', '--silent', script], { cwd: root });
    if (code === 0) continue;
    say(`${script} failed:\n${output.trimEnd()}`);
    failed = 1;
  }
  return failed;
}
