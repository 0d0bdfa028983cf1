import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCacheFolder } from '../../../src/dev-server/download-server.js';
import { withFileLock } from '../../../src/dev-server/file-lock.js';
import { mustRun } from '../run-program.js';

/**
 * The Python of a virtual environment with these requirements; made once, in the cache. Undefined, with a message, if
 * this machine cannot make it (no Python, no pip, no network); in CI that is a failure.
 */
export async function pythonWith(requirements: string, what = 'the examples in Python'): Promise<string | undefined> {
  try {
    return await environmentOf(requirements);
  } catch (error) {
    if (process.env['TEST_IN_CI'] === '1') throw error;
    process.stderr.write(`\n!! SKIPPED: ${what}, since their packages cannot be installed:\n${String(error)}\n\n`);
    return undefined;
  }
}

async function environmentOf(requirements: string): Promise<string> {
  const version = await mustRun('python3', ['--version'], { cwd: '/' });
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16);
  const folder = join(await ensureCacheFolder(process.env), `python-${hash}`);
  const ready = join(folder, 'ready');
  const python = join(folder, 'bin', 'python');
  if (existsSync(ready)) return python;
  return withFileLock(`${folder}.lock`, async () => {
    if (existsSync(ready)) return python;
    await rm(folder, { recursive: true, force: true });
    await mustRun('python3', ['-m', 'venv', folder], { cwd: '/' });
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await mustRun(python, install, { cwd: '/', env: packageSettings() });
    await writeFile(ready, '');
    return python;
  });
}

/** How pip reaches its packages from here. */
function packageSettings(): Record<string, string> {
  const names = Object.keys(process.env).filter((name) =>
    /^(PIP_|SSL_CERT|REQUESTS_CA|(https?|no)_proxy$)/i.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}
