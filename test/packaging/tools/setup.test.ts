import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { scratchFolder, writeScript } from '../../tools/scratch.js';

// The scripts in front of npm start and npm test are plain JavaScript, as nothing is installed when they run.
const load = (name: string): Promise<unknown> => import(join(packageRoot(), 'tools', name));
const { ensureInstalled, whyNpmFailed } = (await load('install.mjs')) as {
  ensureInstalled: (root: string, env: Record<string, string>) => Promise<void>;
  whyNpmFailed: (output: string) => string;
};
const { isBuilt, sources } = (await load('build.mjs')) as { isBuilt: (root: string) => boolean; sources: string[] };
const { hashOf, stamp } = (await load('stamp.mjs')) as {
  hashOf: (root: string, paths: readonly string[]) => string;
  stamp: (file: string, hash: string) => void;
};
const { checkNodeVersion } = (await load('node-version.mjs')) as { checkNodeVersion: (version: string) => void };

const scratch = await scratchFolder();
const root = join(scratch, 'clone');

const lockOf = (packages: object): string => JSON.stringify({ packages: { '': { name: 'clone' }, ...packages } });
const big1 = { 'node_modules/big.js': { version: '7.0.1' } };
const big2 = { 'node_modules/big.js': { version: '7.0.2' } };
const otherPlatform = { 'node_modules/fsevents': { version: '2.3.3', optional: true } };

beforeEach(async () => {
  await rm(root, { recursive: true, force: true });
  await mkdir(join(root, 'node_modules'), { recursive: true });
  await mkdir(join(root, 'src', 'cli'), { recursive: true });
  await mkdir(join(root, 'dist'));
});

describe('packages of npm, before npm start and npm test,', () => {
  /** An `npm` that records that it ran, and exits with this code. */
  async function install(exitCode = 0, output = ''): Promise<boolean> {
    const ran = join(scratch, 'npm-ran');
    await rm(ran, { force: true });
    await writeScript(join(scratch, 'npm'), `echo "$@" > ${ran}; echo "${output}"; exit ${exitCode}`);
    await ensureInstalled(root, { PATH: scratch });
    return rm(ran).then(
      () => true,
      () => false,
    );
  }
  const writeLock = (packages: object): Promise<void> => writeFile(join(root, 'package-lock.json'), lockOf(packages));
  const writeInstalled = (packages: object): Promise<void> =>
    writeFile(join(root, 'node_modules', '.package-lock.json'), lockOf(packages));

  test('are installed once, when node_modules is missing', async () => {
    await writeLock(big1);
    expect(await install()).toBe(true);
    expect(await install()).toBe(false);
  });

  test('are not installed again when npm install was run by hand', async () => {
    await writeLock({ ...big1, ...otherPlatform });
    await writeInstalled(big1);
    expect(await install()).toBe(false);
  });

  test('are installed again when the lockfile wants another version', async () => {
    await writeLock(big1);
    await writeInstalled(big1);
    await install();
    await writeLock(big2);
    expect(await install()).toBe(true);
  });

  test('that could not be installed give one sentence about the network, and are tried again', async () => {
    await writeLock(big1);
    await expect(install(1, 'npm error code EAI_AGAIN')).rejects.toThrow('registry');
    expect(await install()).toBe(true);
  });

  test('that fail for another reason show the output of npm', () => {
    expect(whyNpmFailed('npm error Missing: big.js from lock file\n')).toBe(
      'npm ci failed. Its last lines:\nnpm error Missing: big.js from lock file',
    );
  });
});

describe('the build in dist/', () => {
  const markBuilt = (): void => stamp(join(root, 'dist', '.sources-hash'), hashOf(root, sources));

  beforeEach(async () => {
    await writeFile(join(root, 'src', 'money.ts'), 'export const a = 1;');
    markBuilt();
  });

  test('is fresh while its sources stay as they are', () => {
    expect(isBuilt(root)).toBe(true);
  });

  test.each([
    ['a source changes', () => writeFile(join(root, 'src', 'money.ts'), 'export const a = 2;')],
    ['a source is added', () => writeFile(join(root, 'src', 'cli', 'up.ts'), '')],
    [
      'a source is renamed',
      async () => {
        await rm(join(root, 'src', 'money.ts'));
        await writeFile(join(root, 'src', 'coins.ts'), 'export const a = 1;');
      },
    ],
    ['the compiler settings change', () => writeFile(join(root, 'tsconfig.json'), '{}')],
    ['dist/ is removed', () => rm(join(root, 'dist'), { recursive: true })],
  ])('is stale when %s', async (_, change) => {
    await change();
    expect(isBuilt(root)).toBe(false);
  });
});

describe('a version of Node', () => {
  test.each(['20.19.0', '20.20.2', '22.0.0'])('%s is new enough', (version) => {
    expect(() => checkNodeVersion(version)).not.toThrow();
  });

  test.each(['18.20.0', '20.18.3'])('%s is reported as too old', (version) => {
    expect(() => checkNodeVersion(version)).toThrow(version);
  });
});
