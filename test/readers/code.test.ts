import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  BRIDGE_CHAINS,
  BRIDGE_STATUSES,
  BRIDGE_TOKENS,
  CHAINS,
  DEPOSIT_STATUSES,
  FIAT_CURRENCIES,
  TOKENS,
} from '../../src/contract/vocabulary.js';
import { readCode } from '../../src/readers/code.js';

const WORDS = [...FIAT_CURRENCIES, ...CHAINS, ...TOKENS, ...BRIDGE_CHAINS, ...BRIDGE_TOKENS, ...BRIDGE_STATUSES, ...DEPOSIT_STATUSES]; // prettier-ignore

describe('readCode', () => {
  it('reads every word of the vocabulary in any case, with blanks around it and for its underlines', () => {
    const blanks = fc.constantFrom('', ' ', '\t', '\n', '\u00a0', '\ufeff', '  ');
    const inside = fc.constantFrom('_', ' ', '  ', '\t');
    fc.assert(
      fc.property(
        fc.constantFrom(...WORDS),
        blanks,
        blanks,
        inside,
        fc.func(fc.boolean()),
        (word, before, after, gap, isSmall) => {
          const cased = word
            .split('')
            .map((letter, at) => (isSmall(at) ? letter.toLowerCase() : letter))
            .join('');
          expect(readCode(before + cased.replaceAll('_', gap) + after)).toBe(word);
        },
      ),
    );
  });

  it('gives a code that reads as itself, or nothing, whatever comes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary' }), fc.string()), (value) => {
        const code = readCode(value);
        if (code === undefined) return;
        expect(readCode(code)).toBe(code);
        expect(code).toMatch(/^[A-Z0-9_.:-]{1,64}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '',
    ' ',
    'KES\u200b',
    'ＫＥＳ',
    'ſat',
    'ß',
    'KES,USD',
    'US$',
    'K\u0000ES',
    'a'.repeat(65),
    7,
    null,
    undefined,
    ['KES'],
    {},
  ])('cannot read %p', (value) => {
    expect(readCode(value)).toBeUndefined();
  });

  it('reads no long text', () => {
    for (const piece of ['A', ' ', '_', '\t a']) expect(readCode(piece.repeat(1_000_000))).toBeUndefined();
  });
});
