import { describe, expect, it } from '@jest/globals';
import { InvalidKeysError, parseKeyring } from '../../src/keys/index.js';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

describe('PAYLOAD_KEYS', () => {
  it('have the active key first, and the others can be found', () => {
    const keyring = parseKeyring(`new:${key(1)}, old:${key(2)}`);
    expect(keyring.active.id).toBe('new');
    expect(keyring.find('old')?.bytes).toEqual(new Uint8Array(32).fill(2));
    expect(keyring.find('other')).toBeUndefined();
    expect(keyring.ids).toEqual(['new', 'old']);
  });

  it('may have spaces and empty places between them, and a colon only after an id', () => {
    expect(parseKeyring(` a:${key(1)} ,, b:${key(2)},`).ids).toEqual(['a', 'b']);
    expect(() => parseKeyring(key(1))).toThrow(InvalidKeysError);
    expect(() => parseKeyring(`a::${key(1)}`)).toThrow(InvalidKeysError);
  });

  it.each([
    [1, `a,b:${key(1)}`],
    [2, `a:${key(1)},b:AAAA`],
  ])('are refused with the position of the wrong one: %d', (position, text) => {
    const named = new RegExp(`\\b${position}\\b`);
    expect(() => parseKeyring(text)).toThrow(
      expect.objectContaining({ name: 'InvalidKeysError', message: expect.stringMatching(named) }),
    );
  });

  it.each(['', ' , ', 'a', 'a:', `:${key(1)}`, 'a:AAAA', `a:${key(1)}=`, `a b:${key(1)}`, `a:${key(1)},a:${key(2)}`])(
    'are refused with InvalidKeysError: %j',
    (text) => {
      expect(() => parseKeyring(text)).toThrow(InvalidKeysError);
    },
  );

  it('are not repeated in the error about them', () => {
    const almost = Buffer.alloc(31, 7).toString('base64');
    expect(() => parseKeyring(`a:${almost}`)).not.toThrow(almost);
  });
});
