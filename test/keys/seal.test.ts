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
  it('opens to the bytes that were sealed, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, context) => {
        expect(open(keyring, seal(keyring, plain, context), context)).toEqual(plain);
      }),
    );
  });

  it('has another nonce each time', () => {
    // More often than the pool of random bytes is refilled.
    const seals = Array.from({ length: 2_000 }, () => seal(keyring, bytes('x'), 'c'));
    const nonceOf = (sealed: Uint8Array) => Buffer.from(sealed.slice(2 + oldKey.id.length, 14 + oldKey.id.length));
    expect(new Set(seals.map((sealed) => nonceOf(sealed).toString('hex'))).size).toBe(seals.length);
  });

  it('is broken by a change of any bit of any byte', () => {
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

  it('is broken when it is cut at any length', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => open(keyring, sealed.subarray(0, length), 'place')).toThrow(SealBrokenError);
    }
  });

  it('does not open in another place', () => {
    expect(() => open(keyring, seal(keyring, bytes('body'), 'row 1'), 'row 2')).toThrow(SealBrokenError);
  });

  it('does not open with another key of the same id', () => {
    const impostor = createKeyring([{ id: 'old', bytes: newKey.bytes }]);
    expect(() => open(impostor, seal(keyring, bytes('body'), ''), '')).toThrow(SealBrokenError);
  });

  it('opens after a rotation while the old key is kept, and fails as UnknownKeyError with its id when it is not', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    const rotated = createKeyring([newKey, oldKey]);
    expect(text(open(rotated, sealed, 'place'))).toBe('body');
    expect(text(open(rotated, seal(rotated, bytes('next'), ''), ''))).toBe('next');
    const unknown = (keyId: string) => expect.objectContaining({ name: 'UnknownKeyError', keyId });
    expect(() => open(keyring, seal(rotated, bytes('next'), ''), '')).toThrow(unknown('new'));
    expect(() => open(createKeyring([newKey]), sealed, 'place')).toThrow(unknown('old'));
  });

  it('has a buffer of its own, and so has what it opens to, so that no other secret goes along to a thread', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    // Version, length and text of the id, nonce, ciphertext, tag.
    expect(sealed.length).toBe(2 + 3 + 12 + 4 + 16);
    expect([...sealed.subarray(0, 5)]).toEqual([1, 3, ...bytes('old')]);
    expect(sealed.buffer.byteLength).toBe(sealed.length);
    const opened = open(keyring, sealed, 'place');
    expect(opened.buffer.byteLength).toBe(opened.length);
  });

  it('has the id of its key in its first bytes, also the longest, and other bytes have none', () => {
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

  it('of another version, or without a readable id, fails as SealBrokenError', () => {
    const sealed = seal(keyring, bytes('body'), 'place');
    const [, ...rest] = sealed;
    for (const other of [Uint8Array.of(2, ...rest), Uint8Array.of(1, 0, ...rest.slice(1)), new Uint8Array(40)]) {
      expect(() => open(keyring, other, 'place')).toThrow(expect.objectContaining({ name: 'SealBrokenError' }));
    }
  });
});
