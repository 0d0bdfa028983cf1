import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  addAmounts,
  checkAmount,
  compareAmounts,
  decimalsOf,
  InvalidAmountError,
  isPositiveAmount,
  multiplyByBps,
  parseAmount,
  roundAmount,
  sameAmount,
  subtractAmounts,
  toMsat,
  toWireNumber,
  UnsafeAmountError,
  withinBps,
} from '../../src/money.js';
import { readAmount } from '../../src/readers/amount.js';

const DECIMALS = 8;
/** The other arithmetic that ours is compared with: whole minor units in BigInt. */
const toText = (minor: bigint): string => {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  const sign = minor < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
};
const minorUnits = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });

describe('amounts', () => {
  it.each([
    '1e5',
    '1E400',
    '1e1000000000',
    ' 1',
    '1 ',
    '01',
    '-0',
    '-0.0',
    '+1',
    '.5',
    '1.',
    '',
    'NaN',
    'Infinity',
    '0x10',
    '1,000',
    '١',
  ])('refuses %j, which is no plain decimal number', (text) => {
    expect(() => parseAmount(text)).toThrow(InvalidAmountError);
    expect(checkAmount(text, 'USD')).toMatch(/plain decimal/);
  });

  it('refuses a million digits and a huge exponent without computing with them', () => {
    for (const text of ['9'.repeat(1_000_000), `0.${'1'.repeat(1_000_000)}`, '1e999999999', '1e-999999999']) {
      expect(() => parseAmount(text)).toThrow(InvalidAmountError);
      expect(() => toWireNumber(text)).toThrow(InvalidAmountError);
    }
  });

  it('prints the shortest plain text of an amount, and never an exponent', () => {
    expect(parseAmount('1.50')).toBe('1.5');
    expect(parseAmount('0.00')).toBe('0');
    expect(isPositiveAmount('0.000')).toBe(false);
    expect(parseAmount(`1${'0'.repeat(29)}`)).toBe(`1${'0'.repeat(29)}`);
    expect(multiplyByBps('0.000000000000000001', 1)).toBe('0.0000000000000000000001');
  });

  it('adds, subtracts and compares as whole minor units do', () => {
    fc.assert(
      fc.property(minorUnits, minorUnits, (left, right) => {
        const [a, b] = [toText(left), toText(right)];
        expect(addAmounts(a, b)).toBe(toText(left + right));
        expect(subtractAmounts(a, b)).toBe(toText(left - right));
        expect(compareAmounts(a, b)).toBe(left < right ? -1 : left > right ? 1 : 0);
        expect(sameAmount(a, b)).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes basis points exactly, and counts the edge as within', () => {
    expect(multiplyByBps('1234.56', 25)).toBe('3.0864');
    expect(withinBps('101', 100, '100')).toBe(true);
    expect(withinBps('99', 100, '100')).toBe(true);
    expect(withinBps('101.000000000000000001', 100, '100')).toBe(false);
    expect(withinBps('0', 100, '0')).toBe(true);
    expect(multiplyByBps('1', 0)).toBe('0');
    for (const bps of [0.5, -1, Number.MAX_SAFE_INTEGER + 1, NaN]) {
      expect(() => multiplyByBps('1', bps)).toThrow(RangeError);
    }
  });

  it('adds up any number of amounts, and none to zero', () => {
    expect(addAmounts()).toBe('0');
    expect(addAmounts('0.1', '0.2', '-0.3')).toBe('0');
    expect(isPositiveAmount('0.000001')).toBe(true);
    expect(isPositiveAmount('-1')).toBe(false);
  });

  it('takes up to thirty digits on each side of the point', () => {
    const [whole, rest] = ['9'.repeat(30), '1'.repeat(30)];
    expect(parseAmount(`${whole}.${rest}`)).toBe(`${whole}.${rest}`);
    for (const text of [`${whole}9`, `1.${rest}1`]) {
      expect(() => parseAmount(text)).toThrow(InvalidAmountError);
      expect(checkAmount(text, 'ETH')).toMatch(/plain decimal/);
    }
  });

  it('takes a number of JavaScript for no amount, since it may have changed on its way', () => {
    expect(() => parseAmount(5 as never)).toThrow(InvalidAmountError);
    expect(checkAmount(5 as never, 'USD')).toMatch(/plain decimal/);
  });

  it('rounds down by default', () => {
    expect(roundAmount('1.999', 2)).toBe('1.99');
    expect(roundAmount('1.995', 2, 'half-up')).toBe('2');
  });
});

describe('amounts of Bitcoin', () => {
  it.each([
    ['21000', 'MSAT', '21000'],
    ['21', 'SAT', '21000'],
    ['21', 'SATS', '21000'],
    ['0.0005', 'SAT', '0.5'],
    ['0.00000001', 'BTC', '1000'],
    ['1', 'BTC', '100000000000'],
  ])('are exact in thousandths of a satoshi: %s %s', (amount, unit, msat) => {
    expect(toMsat(amount, unit)).toBe(msat);
  });

  it('are none in another unit', () => {
    for (const unit of ['USD', 'sat', '']) expect(toMsat('1', unit)).toBeNull();
  });
});

describe('currencies', () => {
  const DECIMALS_OF = [
    [0, ['UGX', 'XOF', 'XAF', 'RWF', 'GNF', 'SAT', 'MSAT']],
    [2, ['KES', 'GHS', 'NGN', 'ZAR', 'USD', 'ZMW', 'SLE', 'CDF', 'TZS', 'EGP', 'MWK', 'ETB', 'MZN', 'LSL']],
    [6, ['USDC', 'USDT', 'USDT0', 'ADA']],
    [7, ['XLM']],
    [8, ['BTC', 'HBAR']],
    [9, ['HASH']],
    [18, ['ETH', 'CUSD', 'BUSD', 'USDGLO', 'CKES', 'CGHS', 'FUSE']],
  ] as const;

  it.each(DECIMALS_OF)('have %d decimals: %j', (decimals, currencies) => {
    for (const currency of currencies) {
      expect([currency, decimalsOf(currency), decimalsOf(currency.toLowerCase())]).toEqual([
        currency,
        decimals,
        decimals,
      ]);
      const finest = decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`;
      expect(checkAmount(finest, currency)).toBeUndefined();
      const finer = decimals === 0 ? '1.1' : `${finest}1`;
      expect(checkAmount(finer, currency)).toContain(currency);
    }
  });

  it('knows those without decimals, and says nothing of those it does not know', () => {
    expect(['UGX', 'XOF', 'XAF', 'RWF', 'GNF', 'SAT', 'msat'].map(decimalsOf)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect([decimalsOf('KES'), decimalsOf('BTC'), decimalsOf('ETH'), decimalsOf('USDC')]).toEqual([2, 8, 18, 6]);
    expect(decimalsOf('constructor')).toBeUndefined();
  });

  it('says in a sentence what is wrong with an amount', () => {
    expect(checkAmount('10', 'UGX')).toBeUndefined();
    expect(checkAmount('10.00', 'UGX')).toBeUndefined();
    expect(checkAmount('10.5', 'UGX')).toBe('An amount in UGX has no decimals.');
    expect(checkAmount('10.505', 'USD')).toBe('An amount in USD has at most 2 decimals.');
    expect(checkAmount('0', 'USD')).toBe('The amount must be above zero.');
    expect(checkAmount('-1', 'USD')).toBe('The amount must be above zero.');
    expect(checkAmount('1.123456789', 'DOGE')).toBeUndefined();
  });
});

describe('amounts on the wire', () => {
  it('come back from a JSON number as the same decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 18 }), (digits, decimals) => {
        const padded = digits.toString().padStart(decimals + 1, '0');
        const text = parseAmount(decimals === 0 ? padded : `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`);
        expect(readAmount(JSON.parse(JSON.stringify(toWireNumber(text))))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '9007199254740993',
    '0.1234567890123456',
    '123456789012345678',
    '7.123456789012345678',
    '0.30000000000000004',
  ])('refuses to send %s, which a JSON number cannot carry', (text) =>
    expect(() => toWireNumber(text)).toThrow(UnsafeAmountError),
  );

  it('carry fifteen digits, wherever the point is', () => {
    expect(toWireNumber('999999999999.999')).toBe(999_999_999_999.999);
    expect(toWireNumber('0.123456789012345')).toBe(0.123456789012345);
    expect(toWireNumber('-123456789012345')).toBe(-123_456_789_012_345);
    expect(toWireNumber('0')).toBe(0);
    // It would survive as a double, and not as a decimal of another reader.
    expect(() => toWireNumber('1234567890123456')).toThrow(UnsafeAmountError);
    expect(() => toWireNumber('123456789012345.5')).toThrow(UnsafeAmountError);
  });

  it.each([
    ['InvalidAmountError', () => parseAmount('12345x')],
    ['UnsafeAmountError', () => toWireNumber('9007199254740993')],
  ])('never shows the amount in an error, whose name is %s', (name, act) => {
    expect(act).toThrow(expect.objectContaining({ name, message: expect.not.stringMatching(/12345|9007/) }));
  });
});
