import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createKeyring,
  keyIdOf,
  LONGEST_HEAD,
  open,
  seal,
  SealBrokenError,
  UnknownKeyError,
} from '../../src/keys/index.js';

const oldKey = { id: 'old', bytes: new Uint8Array(32).fill(1) };
const newKey = { id: 'new', bytes: new Uint8Array(32).fill(2) };
const keyring = createKeyring([oldKey]);
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const bytes = (value: string) => new Uint8Array(Buffer.from(value, 'utf8'));

describe('a seal', () => {
  it('decrypts to what was encrypted, whatever it was', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, context) => {
        expect(open(keyring, seal(keyring, plain, context), context)).toEqual(plain);
      }),
    );
  });

  it('never looks the same twice', () => {
    // More often than the pool of random bytes is refilled.
    const seals = Array.from({ length: 2_000 }, () => seal(keyring, bytes('x'), 'c'));
    const nonceOf = (sealed: Uint8Array) => Buffer.from(sealed.slice(2 + oldKey.id.length, 14 + oldKey.id.length));
    expect(new Set(seals.map((sealed) => nonceOf(sealed).toString('hex'))).size).toBe(seals.length);
  });

  it('breaks by a change of any bit of any byte', () => {
    const sealed = seal(keyring, bytes('the money goes to Jane'), 'place');
    for (let index = 0; index < sealed.length; index += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = sealed.slice();
        changed[index] = (changed[index] ?? 0) ^ (1 << bit);
        let error: unknown;
        try {
          open(keyring, changed, 'place');
        } catch (thrown) {
          error = thrown;
        }
        // A changed key id (or its length) names a key that does not exist; everything else is a broken seal.
        const isKeyId = index >= 1 && index < 2 + oldKey.id.length;
        expect([index, bit, error instanceof SealBrokenError || (isKeyId && error instanceof UnknownKeyError)]).toEqual(
          [index, bit, true],
        );
      }
    }
  });

  it('breaks when it is cut at any length', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => open(keyring, sealed.subarray(0, length), 'place')).toThrow(SealBrokenError);
    }
  });

  it('opens nowhere but in its place', () => {
    expect(() => open(keyring, seal(keyring, bytes('body'), 'row 1'), 'row 2')).toThrow(SealBrokenError);
  });

  it('does not open under another key that took over the same id', () => {
    const impostor = createKeyring([{ id: 'old', bytes: newKey.bytes }]);
    expect(() => open(impostor, seal(keyring, bytes('body'), ''), '')).toThrow(SealBrokenError);
  });

  it('outlives a rotation while the old key is kept, and names the key when it is not', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    const rotated = createKeyring([newKey, oldKey]);
    expect(text(open(rotated, sealed, 'place'))).toBe('body');
    expect(text(open(rotated, seal(rotated, bytes('next'), ''), ''))).toBe('next');
    expect(() => open(keyring, seal(rotated, bytes('next'), ''), '')).toThrow(new UnknownKeyError('new'));
    expect(() => open(createKeyring([newKey]), sealed, 'place')).toThrow(new UnknownKeyError('old'));
  });

  it('has memory of its own, and neither has what it opens to: no other secret goes along to a thread', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    // Version, length and text of the id, nonce, ciphertext, tag.
    expect(sealed.length).toBe(2 + 3 + 12 + 4 + 16);
    expect([...sealed.subarray(0, 5)]).toEqual([1, 3, ...bytes('old')]);
    expect(sealed.buffer.byteLength).toBe(sealed.length);
    const opened = open(keyring, sealed, 'place');
    expect(opened.buffer.byteLength).toBe(opened.length);
  });

  it('names its key in its first bytes, for the longest id as well, and other bytes name none', () => {
    const longest = { id: 'k'.repeat(64), bytes: newKey.bytes };
    for (const one of [oldKey, longest]) {
      const sealed = seal(createKeyring([one]), bytes('body'), 'place');
      expect(keyIdOf(sealed.subarray(0, LONGEST_HEAD))).toBe(one.id);
      const [, ...rest] = sealed;
      expect(keyIdOf(Uint8Array.of(2, ...rest))).toBeUndefined();
    }
    expect(keyIdOf(Uint8Array.of(1, 3, 0xe4, 0x41, 0x41))).toBeUndefined();
    expect(keyIdOf(Uint8Array.of(1))).toBeUndefined();
    expect(keyIdOf(new Uint8Array())).toBeUndefined();
  });

  it('of another version, or without a readable id, is broken, and is of no unknown key', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    const [, ...rest] = sealed;
    for (const other of [Uint8Array.of(2, ...rest), Uint8Array.of(1, 0, ...rest.slice(1)), new Uint8Array(40)]) {
      expect(() => open(keyring, other, 'place')).toThrow(new SealBrokenError());
    }
  });

  it('says by its error what is wrong: that it is broken, or which key is missing', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    expect(() => open(keyring, sealed, 'elsewhere')).toThrow(expect.objectContaining({ name: 'SealBrokenError' }));
    expect(() => open(createKeyring([newKey]), sealed, 'place')).toThrow(
      expect.objectContaining({ name: 'UnknownKeyError', keyId: 'old' }),
    );
  });
});
