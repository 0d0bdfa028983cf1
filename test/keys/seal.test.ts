import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { createKeyring, open, seal, SealBrokenError, UnknownKeyError } from '../../src/keys/index.js';

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
});
