import { chmod, mkdtemp, open, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadOrMakeKeyring, makePrivateFile } from '../../src/keys/index.js';

const isLinux = process.platform === 'linux';
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'towline-key-file-'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(home, { recursive: true });
});

/** Paths under the home folder that this process has open. */
async function openPaths(): Promise<readonly string[]> {
  const paths = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return paths.filter((path) => path.startsWith(home));
}

describe('the key file of development', () => {
  it('is made at first use, for its owner alone, with one new named key, and found again', async () => {
    const folder = join(home, 'new');
    const { active, ids } = await loadOrMakeKeyring(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const text = await readFile(join(folder, 'keys'), 'utf8');
    expect(text).toBe(`${active.id}:${Buffer.from(active.bytes).toString('base64')}\n`);
    expect(active.id).toMatch(/^dev-[0-9a-f]{8}$/);
    expect(ids).toEqual([active.id]);
    const other = await loadOrMakeKeyring(join(home, 'other'));
    expect(other.active.id).not.toBe(active.id);
    expect(other.active.bytes).not.toEqual(active.bytes);
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o600);
    expect((await loadOrMakeKeyring(folder)).active).toEqual(active);
  });

  it('is one file when twenty processes start at once, without drafts', async () => {
    const keyrings = await Promise.all(Array.from({ length: 20 }, () => loadOrMakeKeyring(home)));
    expect(new Set(keyrings.map((keyring) => Buffer.from(keyring.active.bytes).toString('hex'))).size).toBe(1);
    expect(await readdir(home)).toEqual(['keys']);
  });

  it.each(['\n', '\n\n', ',', ', '])(
    'may have several keys with %j between them, the active one first',
    async (between) => {
      await writeFile(join(home, 'keys'), `\n b:${key(2)}${between}a:${key(1)}\n`, { mode: 0o600 });
      const { active, ids } = await loadOrMakeKeyring(home);
      expect([active.id, ids]).toEqual(['b', ['b', 'a']]);
    },
  );

  it("is not replaced if it cannot be opened, and the error has the system's code", async () => {
    // A file in the place of its folder.
    const file = join(home, 'a-file');
    await writeFile(file, '');
    const problem = { name: 'InvalidKeysError', message: expect.stringMatching(/\bENOTDIR\b/) };
    await expect(loadOrMakeKeyring(file)).rejects.toMatchObject(problem);
    expect(await readFile(file, 'utf8')).toBe('');
  });

  it.each([0o604, 0o640, 0o610, 0o601])(
    'is refused with the mode %o (decimal), by its path, as ExposedKeyFileError',
    async (mode) => {
      const path = join(home, 'keys');
      await writeFile(path, `a:${key(1)}`);
      await chmod(path, mode);
      await expect(loadOrMakeKeyring(home)).rejects.toMatchObject({ name: 'ExposedKeyFileError', path });
    },
  );
});

describe('a private file (makePrivateFile)', () => {
  it('is not replaced, and has no draft beside it', async () => {
    const path = join(home, 'secret');
    await makePrivateFile(path, 'first');
    await makePrivateFile(path, 'second');
    expect(await readFile(path, 'utf8')).toBe('first');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(['secret']);
  });

  it('is not made, as ENOENT, in a folder that is not there', async () => {
    await expect(makePrivateFile(join(home, 'missing', 'secret'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  (isLinux ? it : it.skip)('and its name are on the disk before anything is sealed with it', async () => {
    const synced: string[] = [];
    const handle = await open(home);
    const prototype = Object.getPrototypeOf(handle) as { sync: (this: { fd: number }) => Promise<void> };
    await handle.close();
    const { sync } = prototype;
    jest.spyOn(prototype, 'sync').mockImplementation(async function (this: { fd: number }) {
      synced.push(await readlink(`/proc/self/fd/${this.fd}`));
      return sync.call(this);
    });
    await makePrivateFile(join(home, 'secret'), 'x');
    expect(synced).toEqual([expect.stringMatching(/\/secret\.[0-9a-f]{16}$/), home]);
  });

  (isLinux ? it : it.skip)('is closed after it was made or read', async () => {
    await loadOrMakeKeyring(home);
    await loadOrMakeKeyring(home);
    expect(await openPaths()).toEqual([]);
  });
});
