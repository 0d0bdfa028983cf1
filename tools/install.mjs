import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { hashOf, isStamped, stamp } from './stamp.mjs';
import { runStep } from './step.mjs';

/** Runs `npm ci` when node_modules is missing or does not fit package-lock.json. */
export async function ensureInstalled(root, env = process.env) {
  const stampFile = join(root, 'node_modules', '.towline-lock-hash');
  const hash = hashOf(root, ['package-lock.json']);
  if (isStamped(stampFile, hash)) return;
  if (!fitsLockfile(root)) await npmCi(root, env);
  stamp(stampFile, hash);
}

/** Whether npm's own note of what it installed has every package of the lockfile, in its version. */
export function fitsLockfile(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  // Optional packages are mostly those of other platforms.
  const needed = Object.entries(wanted).filter(([path, facts]) => path !== '' && !facts.optional && !facts.devOptional);
  return needed.every(([path, { version }]) => installed[path]?.version === version);
}

async function npmCi(root, env) {
  // `npm start` names the npm that runs us; by hand there is only the PATH.
  const npm = env.npm_execpath ? [process.execPath, env.npm_execpath] : ['npm'];
  const shell = !env.npm_execpath && process.platform === 'win32';
  // Without the retries' waits of a minute, a missing network is reported at once. NODE_ENV=production would leave out tsc.
  const args = ['ci', '--include=dev', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const { code, output } = await runStep('installing packages (npm ci)', npm[0], [...npm.slice(1), ...args], {
    cwd: root,
    env,
    shell,
  });
  if (code !== 0) throw new Failure(whyNpmFailed(output));
}

const networkErrors =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT/;

export function whyNpmFailed(output) {
  if (networkErrors.test(output)) {
    return "npm ci could not reach the registry. Check the network (or npm's proxy and registry settings) and run this again.";
  }
  return `npm ci failed. Its last lines:\n${output.trimEnd().split('\n').slice(-10).join('\n')}`;
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
