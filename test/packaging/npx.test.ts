import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import { ensureBuilt } from './ensure-built.js';
import { runProgram } from './run-program.js';

const root = packageRoot();
const { bin, files, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly bin: { readonly towline: string };
  readonly files: readonly string[];
};

describe('npx towline, in the folder of a clone', () => {
  let clone: string;
  let cache: string;
  beforeAll(async () => {
    await ensureBuilt();
    clone = await mkdtemp(join(tmpdir(), 'towline-npx-'));
    cache = await mkdtemp(join(tmpdir(), 'towline-npx-cache-'));
    await writeFile(
      join(clone, 'package.json'),
      JSON.stringify({ ...manifest, bin, dependencies: {}, devDependencies: {} }),
    );
    await cp(join(root, 'tools'), join(clone, 'tools'), { recursive: true });
    await cp(join(root, 'src', 'cli', 'program.ts'), join(clone, 'src', 'cli', 'program.ts'));
  });
  afterAll(() => Promise.all([clone, cache].map((folder) => rm(folder, { recursive: true, force: true }))));

  const npx = (argument: string) =>
    runProgram('npx', ['towline', argument], {
      cwd: clone,
      env: { npm_config_cache: cache, npm_config_offline: 'true', npm_config_update_notifier: 'false' },
    });

  it('names the command to run before anything is built, and runs once it is built, and after it was built again', async () => {
    const advice = expect.stringContaining('npm run build');
    expect(await npx('list')).toMatchObject({ code: 1, all: advice });
    expect(await npx('--help')).toMatchObject({ code: 0, all: advice, out: expect.stringMatching(/^ +list +\S/m) });
    // npm has linked to the command by now, and never does so again.
    await symlink(join(root, 'dist'), join(clone, 'dist'));
    expect(await npx('--help')).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage: towline /m) });
  });

  it('needs no right to execute what a build has made', async () => {
    expect((await stat(join(root, bin.towline))).mode & 0o111).toBe(0o111);
    expect(bin.towline).not.toMatch(/^dist/);
    expect(files).toContain(bin.towline);
  });
});
