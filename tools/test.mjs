// `npm test [-- [--check] vitest arguments]`: from a fresh clone to test results. `--check` adds type check and lint.
// `npm run crash-matrix`, `npm run packaging` and `npm run cluster-test` come here with `--project NAME`: those tests
// kill processes, install packages and start whole stacks, and need the machine for themselves. `npm run crash-matrix --
// --full` crosses every operation and crash point with every repeat mode and database.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';
import { runStep, say } from './step.mjs';

await runMain(async (args) => {
  await setUp();
  const { checked, full, projects, runnerArgs } = readArguments(args);
  if (full) process.env.CRASH_MATRIX = 'full';
  const checks = checked ? await check() : 0;
  if (projects.some((project) => project !== 'unit')) await getServers();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const selected = projects.map((project) => `--project=${project}`);
  const tests = await runToEnd([vitest, 'run', ...runnerArgs, ...selected], { cwd: root });
  return tests || checks;
});

function readArguments(args) {
  const rest = [...args];
  const checked = rest[0] === '--check';
  if (checked) rest.shift();
  const projects = [];
  while (rest[0] === '--project') projects.push(...rest.splice(0, 2)[1].split(','));
  const runnerArgs = rest.filter((arg) => arg !== '--full');
  const full = runnerArgs.length < rest.length;
  return { checked, full, projects: projects.length > 0 ? projects : ['main'], runnerArgs };
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
