import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { anyFreePort } from '../../../src/dev-server/free-port.js';
import { until } from '../../harness/until.js';
import { secretBytes } from '../../harness/secrets.js';
import { ensureBuilt } from '../ensure-built.js';

jest.setTimeout(300_000);
const run = promisify(execFile);
const MOST_MB = 150;

let folder: string;
/** As the Dockerfile makes it. */
beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), 'towline-image-'));
  const from = (name: string) => join(packageRoot(), name);
  for (const name of ['package.json', 'dist', 'examples', 'node_modules']) {
    await cp(from(name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  await run(process.execPath, [from('tools/trim.mjs'), folder]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(`the image holds at most ${MOST_MB} MB of ours, and no other platform's binaries, bundler or compiler`, async () => {
  const { stdout } = await run('du', ['-sm', '--apparent-size', folder]);
  expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(MOST_MB);
  const { stdout: found } = await run('find', [join(folder, 'node_modules'), '-name', '*.node', '-printf', '%P\\n']);
  const binaries = found.split('\n').filter((path) => path !== '');
  expect(binaries.map((path) => path.split('/').slice(0, 2).join('/')).toSorted()).toEqual([
    expect.stringMatching(/^@libsql\/linux-.*-gnu$/),
    '@temporalio/core-bridge',
  ]);
});

it('a worker of the image polls: what the image leaves out is loaded by nothing', async () => {
  const port = await anyFreePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    TOWLINE_HOME: join(folder, 'home'),
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_NAMESPACE: 'of-the-image',
    SERVICE_TOKEN: 'a-token',
    PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
    DEVELOPMENT: 'true',
    WORKER_PROBE_PORT: String(port),
  };
  const main = join(folder, 'dist', 'src', 'cli', 'main.js');
  const { stdout } = await run(process.execPath, [main, 'temporal', 'setup'], { env });
  expect(stdout).toContain('of-the-image');
  // It may be run again, as it is at each start.
  await run(process.execPath, [main, 'temporal', 'setup'], { env });
  const child = execFile(process.execPath, [main, 'worker'], { env });
  try {
    await until(
      'the worker to be ready',
      async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200,
      60_000,
    );
  } finally {
    child.kill('SIGKILL');
  }
});
