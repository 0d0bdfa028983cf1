// `npm test [-- [--check] jest arguments]`: from a fresh clone to test results. `--check` adds type check and lint.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';
import { runStep, say } from './step.mjs';

await runMain(async (args) => {
  await setUp();
  const checks = args[0] === '--check' ? await check() : 0;
  await getServers();
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const jestArgs = args[0] === '--check' ? args.slice(1) : args;
  const tests = await runToEnd(['--experimental-vm-modules', '--no-warnings', jest, ...jestArgs], { cwd: root });
  return tests || checks;
});

/** jest's global setup finds them again, in the cache; here there is room for minutes of progress. */
async function getServers() {
  const load = (file) => import(pathToFileURL(join(root, 'dist', 'src', 'temporal', file)).href);
  const { findServerExecutable } = await load('find-server.js');
  const { timeSkippingServerPath } = await load('test-server.js');
  try {
    await findServerExecutable({ env: process.env, log: say });
  } catch (error) {
    throw error.name === 'NoTemporalServerError' ? new Failure(error.message) : error;
  }
  await timeSkippingServerPath({ env: process.env, log: say });
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
