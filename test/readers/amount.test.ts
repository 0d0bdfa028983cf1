import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseAmount } from '../../src/money.js';
import { readAmount } from '../../src/readers/amount.js';

/** A decimal of at most 30 digits on each side of the point, in its shortest plain form. */
const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: 12, max: 29 }))
  .map(([digits, decimals]) => {
    const padded = (digits < 0n ? -digits : digits).toString().padStart(decimals + 1, '0');
    const text = `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`.replace(/\.?0+$/, '');
    return digits < 0n && text !== '0' ? `-${text}` : text;
  });
const zeros = fc.integer({ min: 0, max: 9 }).map((count) => '0'.repeat(count));
const blanks = fc.constantFrom('', ' ', '\t', '\n ', '\u00a0');

describe('readAmount', () => {
  it('reads every spelling of an amount as one text: zeros, a plus, an exponent, blanks around it', () => {
    const spelling = fc.record({
      before: blanks,
      after: blanks,
      front: zeros,
      end: zeros,
      plus: fc.constantFrom('', '+'),
      exponent: fc.option(fc.integer({ min: -9, max: 9 })),
    });
    fc.assert(
      fc.property(amount, spelling, (plain, { before, after, front, end, plus, exponent }) => {
        const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plain) ?? [];
        const shift = exponent ?? 0;
        const moved = moveThePoint(whole, rest, -shift);
        const text = `${sign || plus}${front}${moved}${moved.includes('.') ? end : ''}${exponent === null ? '' : `e${shift}`}`;
        expect(readAmount(before + text + after)).toBe(plain);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives what money.ts computes with, unchanged, or nothing, whatever comes', () => {
    const wire = fc.oneof(
      fc.double(),
      fc.string({ unit: fc.constantFrom(...'0123456789+-.eE ,_x'.split('')) }),
      fc.anything(),
      fc.tuple(amount, fc.integer({ min: -400, max: 400 })).map(([text, exponent]) => `${text}e${exponent}`),
    );
    fc.assert(
      fc.property(wire, (value) => {
        const read = readAmount(value);
        if (read === undefined) return;
        expect(parseAmount(read)).toBe(read);
        expect(readAmount(read)).toBe(read);
      }),
      { numRuns: 5_000 },
    );
  });

  it('reads a JSON number as the decimal that its sender wrote, up to 15 digits and down to 1e-18', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999_999_999_999 }),
        fc.integer({ min: 0, max: 18 }),
        (digits, decimals) => {
          const written = `${digits}e-${decimals}`;
          expect(readAmount(JSON.parse(written))).toBe(readAmount(written));
        },
      ),
      { numRuns: 2_000 },
    );
    expect([5e-7, 1e-18, 1e21, -0, 0.1, 250].map(readAmount)).toEqual([
      '0.0000005',
      '0.000000000000000001',
      '1000000000000000000000',
      '0',
      '0.1',
      '250',
    ]);
  });

  /** The lexical examples of `decimal` and `double` in XML Schema, Part 2. */
  it.each([
    ['-1.23', '-1.23'],
    ['12678967.543233', '12678967.543233'],
    ['+100000.00', '100000'],
    ['210', '210'],
    ['-1E4', '-10000'],
    ['1267.43233E12', '1267432330000000'],
    ['12.78e-2', '0.1278'],
    ['12', '12'],
    ['-0', '0'],
    ['0', '0'],
    ['.5', '0.5'],
    ['5.', '5'],
  ])('reads %s as %s', (text, plain) => {
    expect(readAmount(text)).toBe(plain);
  });

  it.each([
    ['0002100000', '2100000'],
    ['007.5', '7.5'],
    ['0e999', '0'],
    [`${'0'.repeat(60)}1.50`, '1.5'],
    [`1${'0'.repeat(29)}`, `1${'0'.repeat(29)}`],
    [`0.${'0'.repeat(29)}1`, `0.${'0'.repeat(29)}1`],
  ])('reads %s', (text, plain) => {
    expect(readAmount(text)).toBe(plain);
  });

  it.each([
    '1,250.50',
    '1.250,50',
    '1 250',
    '1_250',
    "1'250",
    '1,5',
    '',
    ' ',
    '.',
    '+',
    '-',
    'e5',
    '1e',
    '1e+',
    '--1',
    '+-1',
    '0x10',
    'NaN',
    'Infinity',
    '-INF',
    'ten',
    '١',
    '１',
    '1e31',
    '1e-31',
    `1${'0'.repeat(30)}`,
    '1e400',
    '1e-400',
    '1e1000000000',
    NaN,
    Infinity,
    -Infinity,
    1e300,
    5e-324,
    null,
    undefined,
    true,
    [5],
    { value: 5 },
    5n,
  ])('cannot read %p', (value) => {
    expect(readAmount(value)).toBeUndefined();
  });

  it('reads no more than 120 characters', () => {
    for (const piece of ['9', '0', ' ', 'e', '.', '1e', '-'])
      expect(readAmount(piece.repeat(1_000_000))).toBeUndefined();
  });
});

function moveThePoint(whole: string, rest: string, by: number): string {
  const digits = '0'.repeat(10) + whole + rest + '0'.repeat(10);
  const point = 10 + whole.length + by;
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
