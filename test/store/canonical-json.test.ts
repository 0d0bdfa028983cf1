import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { canonicalJson, NotJsonError } from '../../src/store/canonical-json.js';

describe('canonical JSON', () => {
  it('is one text for equal values, whatever the order of members', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'ü' }], a: undefined, A: '1.50' })).toBe(
      '{"A":"1.50","b":[1,{"c":"ü","d":null}]}',
    );
    const shuffled = (value: unknown): unknown =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .map(([name, member]) => [name, shuffled(member)] as const)
              .toReversed(),
          )
        : value;
    fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(shuffled(value)) === canonicalJson(value)));
  });

  it('reads back as the value it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  const cycle: unknown[] = [];
  cycle.push({ cycle });
  it.each([NaN, Infinity, -Infinity, 1n, undefined, () => 1, Symbol('s'), new Date(0), new Map(), [undefined], cycle])(
    'throws NotJsonError for %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(NotJsonError);
      expect(() => canonicalJson({ a: [value].flat() })).toThrow(NotJsonError);
    },
  );

  it('takes a value that occurs twice, as long as it is not inside itself', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});
