import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { downloadServer } from '../../../src/dev-server/download-server.js';
import { pinnedCliVersion, findServer, NoTemporalServerError } from '../../../src/dev-server/find-server.js';
import { packageRoot } from '../../../src/package-root.js';
import { scratchFolder, writeScript } from '../../tools/scratch.js';

const scratch = await scratchFolder();

/** A `temporal` that only knows its version. */
async function fakeCli(folder: string, serverVersion: string, name = 'temporal'): Promise<string> {
  await mkdir(join(scratch, folder), { recursive: true });
  return writeScript(join(scratch, folder, name), `echo "temporal version 1.0.0 (Server ${serverVersion}, UI 2.0.0)"`);
}

const emptyCache = join(scratch, 'empty-cache');
const filledCache = join(scratch, 'filled-cache');
const inCache = await fakeCli('filled-cache', '1.31.2', `temporal-${await pinnedCliVersion()}`);
const onPath = await fakeCli('bin', '1.31.2');
const tooOld = await fakeCli('old-bin', '1.20.0');
const noCli = await writeScript(join(scratch, 'no-cli'), 'echo "temporal anomaly detector 3"');

async function find(env: Record<string, string>) {
  const lines: string[] = [];
  const found = await findServer({
    env: { PATH: '', TOWLINE_CACHE: emptyCache, ...env },
    log: (line) => lines.push(line),
  });
  return { found, lines };
}

describe('a Temporal server is found', () => {
  test('at TEMPORAL_ADDRESS before anything else', async () => {
    const { found } = await find({ TEMPORAL_ADDRESS: 'temporal.internal:7233', TEMPORAL_CLI_PATH: onPath });
    expect(found).toEqual({ kind: 'address', address: 'temporal.internal:7233' });
  });

  test('at TEMPORAL_CLI_PATH before the PATH', async () => {
    const { found } = await find({ TEMPORAL_CLI_PATH: inCache, PATH: join(scratch, 'bin') });
    expect(found).toEqual({ kind: 'executable', path: inCache, from: 'TEMPORAL_CLI_PATH' });
  });

  test('on the PATH before our cache', async () => {
    const { found } = await find({ PATH: join(scratch, 'bin'), TOWLINE_CACHE: filledCache });
    expect(found).toEqual({ kind: 'executable', path: onPath, from: 'PATH' });
  });

  test('in our cache, passing by one on the PATH that is too old', async () => {
    const { found, lines } = await find({ PATH: join(scratch, 'old-bin'), TOWLINE_CACHE: filledCache });
    expect(found).toEqual({ kind: 'executable', path: inCache, from: 'cache' });
    expect(lines).toEqual([expect.stringContaining(tooOld)]);
  });
});

describe('when TEMPORAL_CLI_PATH names what cannot be used', () => {
  test.each([
    ['a file that does not exist', '/nowhere/temporal', 'not-executable'],
    ['another program', noCli, 'no-cli'],
    ['a server that is too old', tooOld, 'too-old'],
  ])('a search for a Temporal server ends at %s', async (_, path, code) => {
    const error = await find({ TEMPORAL_CLI_PATH: path }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NoTemporalServerError);
    expect(error).toMatchObject({ code });
  });
});

// To the SDK, a proxy that refuses connections looks like no network.
const noNetwork = { HTTPS_PROXY: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' };

test('a search for a Temporal server without a download and without Go ends with no-server, and leaves nothing in the cache', async () => {
  const { readdir } = await import('node:fs/promises');
  const error = await find(noNetwork).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'no-server', message: expect.stringContaining('TEMPORAL_ADDRESS') });
  expect(await readdir(emptyCache)).toEqual([]);
});

test('without the optional package that downloads, a line names it, and nothing is left in the cache', async () => {
  const lines: string[] = [];
  const env = { PATH: '', TOWLINE_CACHE: emptyCache };
  const without = join(scratch, 'package.json');
  expect(await downloadServer(env, '1.0.0', join(emptyCache, 'temporal'), (line) => lines.push(line), without)).toBe(
    false,
  );
  expect(lines).toEqual([expect.stringContaining('@temporalio/testing')]);
  const { optionalDependencies, dependencies } = JSON.parse(
    await readFile(join(packageRoot(), 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  expect(optionalDependencies).toHaveProperty(['@temporalio/testing']);
  expect(dependencies).not.toHaveProperty(['@temporalio/testing']);
});

test('a build that fails shows its last lines', async () => {
  await mkdir(join(scratch, 'broken-go'));
  await writeScript(join(scratch, 'broken-go', 'go'), '[ "$1" = version ] || { echo "disk full"; exit 1; }');
  const error = await find({ ...noNetwork, PATH: join(scratch, 'broken-go') }).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'no-server', message: expect.stringMatching(/\ndisk full$/) });
});

test('two that search at the same time build once', async () => {
  await mkdir(join(scratch, 'counting-go'));
  const builds = join(scratch, 'builds');
  await writeScript(
    join(scratch, 'counting-go', 'go'),
    `PATH=/usr/bin:/bin; [ "$1" = version ] && exit; echo built >> ${builds}
     while [ "$1" != -o ]; do shift; done; mkdir -p "$(dirname "$2")"; echo '#!/bin/sh' > "$2"; chmod +x "$2"`,
  );
  const env = { ...noNetwork, PATH: join(scratch, 'counting-go'), TOWLINE_CACHE: join(scratch, 'shared-cache') };
  const [first, second] = await Promise.all([find(env), find(env)]);
  const { readFile } = await import('node:fs/promises');
  expect(await readFile(builds, 'utf8')).toBe('built\n');
  const origins = [first.found, second.found].map((found) => (found.kind === 'executable' ? found.from : found.kind));
  expect(origins.sort()).toEqual(['build', 'cache']);
});
