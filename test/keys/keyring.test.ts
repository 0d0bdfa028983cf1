import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ExposedKeyFileError, InvalidKeysError, loadOrMakeKeyring, parseKeyring } from '../../src/keys/index.js';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

describe('PAYLOAD_KEYS', () => {
  it('makes the first key the active one and finds the others', () => {
    const keyring = parseKeyring(`new:${key(1)}, old:${key(2)}`);
    expect(keyring.active.id).toBe('new');
    expect(keyring.find('old')?.bytes).toEqual(new Uint8Array(32).fill(2));
    expect(keyring.find('other')).toBeUndefined();
    expect(keyring.ids).toEqual(['new', 'old']);
  });

  it('may have spaces and empty places between its keys, and a colon only after an id', () => {
    expect(parseKeyring(` a:${key(1)} ,, b:${key(2)},`).ids).toEqual(['a', 'b']);
    expect(() => parseKeyring(key(1))).toThrow(InvalidKeysError);
    expect(() => parseKeyring(`a::${key(1)}`)).toThrow(InvalidKeysError);
  });

  it.each([
    ['', /no payload key/],
    [' , ', /no payload key/],
    [`a:${key(1)},b:AAAA`, /number 2 /],
    [`a,b:${key(1)}`, /number 1 /],
    [`a:${key(1)},a:${key(2)}`, /same id/],
  ])('says which of its keys is wrong: %j', (text, message) => {
    expect(() => parseKeyring(text)).toThrow(
      expect.objectContaining({ name: 'InvalidKeysError', message: expect.stringMatching(message) }),
    );
  });

  it.each(['', 'a', 'a:', `:${key(1)}`, 'a:AAAA', `a:${key(1)}=`, `a b:${key(1)}`, `a:${key(1)},a:${key(2)}`])(
    'refuses %j',
    (text) => {
      expect(() => parseKeyring(text)).toThrow(InvalidKeysError);
    },
  );

  it('never repeats a key in its error', () => {
    const almost = Buffer.alloc(31, 7).toString('base64');
    expect(() => parseKeyring(`a:${almost}`)).not.toThrow(almost);
  });
});

describe('the key file of development', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'towline-keys-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  it('is made at first use, readable by its owner alone, and found again', async () => {
    const folder = join(home, 'not', 'yet');
    const first = await loadOrMakeKeyring(folder);
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o600);
    expect((await loadOrMakeKeyring(folder)).active).toEqual(first.active);
  });

  it('is one file when twenty start at once, and leaves no drafts', async () => {
    const keyrings = await Promise.all(Array.from({ length: 20 }, () => loadOrMakeKeyring(home)));
    const ids = keyrings.map((keyring) => Buffer.from(keyring.active.bytes).toString('hex'));
    expect(new Set(ids).size).toBe(1);
    expect(await readdir(home)).toEqual(['keys']);
  });

  it('is refused if others can read it, with what to do', async () => {
    await loadOrMakeKeyring(home);
    await chmod(join(home, 'keys'), 0o640);
    const refused = loadOrMakeKeyring(home);
    await expect(refused).rejects.toThrow(ExposedKeyFileError);
    await expect(refused).rejects.toThrow(/chmod 600/);
  });

  it('may hold several keys, one a line', async () => {
    await writeFile(join(home, 'keys'), `b:${key(2)}\na:${key(1)}\n`, { mode: 0o600 });
    const keyring = await loadOrMakeKeyring(home);
    expect([keyring.active.id, keyring.find('a')?.id]).toEqual(['b', 'a']);
  });
});
