import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { ensureBuilt } from '../ensure-built.js';
import { mustRun, runProgram } from '../run-program.js';

jest.setTimeout(300_000);

const root = packageRoot();
const CLIENT = 'towline-client';
const DEPENDENCIES = ['standardwebhooks', 'zod'];
/** What those bring along. */
const PACKAGES = ['@stablelib/base64', 'fast-sha256', ...DEPENDENCIES];
/** Loads the client and uses it: a gateway is down, and a callback is invalid. */
const PROGRAM = (name: string) => `
import { readCallback, Towline } from '${name}';
const towline = new Towline({ baseUrl: 'http://127.0.0.1:1', token: 'x', retryForMs: 0 });
for (const asked of [
  async () => towline.start('kind', {}),
  async () => readCallback({ secrets: ['whsec_${Buffer.alloc(32).toString('base64')}'], headers: {}, body: '{}' }),
]) console.log((await asked().catch((error) => error)).name);`;

let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), 'towline-client-alone-'));
  await mustRun(process.execPath, [join(root, 'tools', 'pack-client.mjs'), folder], { cwd: folder });
  const tarball = (await readdir(folder)).find((file) => file.endsWith('.tgz')) ?? '';
  const installed = join(folder, 'node_modules', CLIENT);
  await mkdir(installed, { recursive: true });
  await mustRun('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], { cwd: folder });
  await mkdir(join(folder, 'node_modules', '@types'));
  for (const name of [...DEPENDENCIES, '@types/node']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A program's output, and what it loaded: packages, and files of ours below `dist`. */
async function loadedBy(name: string, cwd: string) {
  const covered = await mkdtemp(join(folder, 'covered-'));
  const out = await mustRun(process.execPath, ['--input-type=module', '--eval', PROGRAM(name)], {
    cwd,
    env: { NODE_V8_COVERAGE: covered },
  });
  const files = new Set<string>();
  for (const file of await readdir(covered)) {
    const { result } = JSON.parse(await readFile(join(covered, file), 'utf8')) as { result: { url: string }[] };
    for (const { url } of result)
      if (url.startsWith('file://') && !url.includes('[eval')) files.add(fileURLToPath(url));
  }
  const ofPackages = [...files].flatMap(
    (file) => /\/node_modules\/(?!towline)((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  );
  const own = [...files].flatMap(
    (file) => /\/dist\/(src\/.+)$/.exec(file.replace(/\/node_modules\/(?!towline).*/, ''))?.[1] ?? [],
  );
  return { out, packages: [...new Set(ofPackages)].toSorted(), own: own.toSorted() };
}

describe('the client that a backend imports', () => {
  test.each([
    [CLIENT, () => folder],
    ['towline', () => root],
  ])('loads zod, standardwebhooks and a few files of ours, as %s', async (name, cwd) => {
    expect(await loadedBy(name, cwd())).toEqual({
      out: 'UnreachableError\nCallbackError\n',
      packages: PACKAGES,
      own: [
        'src/api/refusal.js',
        'src/clock.js',
        'src/contract/sending.js',
        'src/protocol/causes.js',
        'src/protocol/loopback.js',
        'src/protocol/refusals.js',
        'src/protocol/vocabulary.js',
        'src/readers/http-date.js',
        'src/readers/retry-after.js',
        'src/readers/time.js',
        'src/sdk/errors.js',
        'src/sdk/index.js',
        'src/sdk/options.js',
        'src/sdk/read-callback.js',
        'src/sdk/request.js',
        'src/sdk/towline.js',
        'src/sdk/wait.js',
      ],
    });
  });

  test('has no more dependencies than it loads, at the versions of Towline itself', async () => {
    const read = async (path: string) =>
      JSON.parse(await readFile(path, 'utf8')) as { version: string; dependencies: Record<string, string> };
    const own = await read(join(root, 'package.json'));
    const client = await read(join(folder, 'node_modules', CLIENT, 'package.json'));
    expect(client.version).toBe(own.version);
    expect(client.dependencies).toEqual(Object.fromEntries(DEPENDENCIES.map((name) => [name, own.dependencies[name]])));
  });

  test('brings all its types along: what its document shows compiles', async () => {
    const document = await readFile(join(root, 'docs', 'client.md'), 'utf8');
    const shown = /```ts\n([^]+?)```/.exec(document)?.[1]?.replace(`'towline'`, `'${CLIENT}'`) ?? 'no example';
    await writeFile(join(folder, 'docs.ts'), `declare const order: { id: string };\n${shown}\nflow.state;\n`);
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      skipLibCheck: false,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['docs.ts'] }));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const args = [tsc, '-p', folder, '--noEmit', '--pretty', 'false'];
    expect(await runProgram(process.execPath, args, { cwd: folder })).toMatchObject({ code: 0, all: '' });
  });
});
