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

describe('an amount', () => {
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
  ])('is not %j, which is no plain decimal number', (text) => {
    expect(() => parseAmount(text)).toThrow(InvalidAmountError);
    expect(checkAmount(text, 'USD')).toBeDefined();
  });

  it('of a million digits or with a huge exponent is refused without a computation', () => {
    for (const text of ['9'.repeat(1_000_000), `0.${'1'.repeat(1_000_000)}`, '1e999999999', '1e-999999999']) {
      expect(() => parseAmount(text)).toThrow(InvalidAmountError);
      expect(() => toWireNumber(text)).toThrow(InvalidAmountError);
    }
  });

  it('is printed as the shortest plain text, without an exponent', () => {
    expect(parseAmount('1.50')).toBe('1.5');
    expect(parseAmount('0.00')).toBe('0');
    expect(isPositiveAmount('0.000')).toBe(false);
    expect(parseAmount(`1${'0'.repeat(29)}`)).toBe(`1${'0'.repeat(29)}`);
    expect(multiplyByBps('0.000000000000000001', 1)).toBe('0.0000000000000000000001');
  });

  it('is added, subtracted and compared as whole minor units are', () => {
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

  it('is multiplied by basis points exactly, and is within them at the edge', () => {
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

  it('is the sum of any number of amounts, and zero of none', () => {
    expect(addAmounts()).toBe('0');
    expect(addAmounts('0.1', '0.2', '-0.3')).toBe('0');
    expect(isPositiveAmount('0.000001')).toBe(true);
    expect(isPositiveAmount('-1')).toBe(false);
  });

  it('has up to thirty digits on each side of the point', () => {
    const [whole, rest] = ['9'.repeat(30), '1'.repeat(30)];
    expect(parseAmount(`${whole}.${rest}`)).toBe(`${whole}.${rest}`);
    for (const text of [`${whole}9`, `1.${rest}1`]) {
      expect(() => parseAmount(text)).toThrow(InvalidAmountError);
      expect(checkAmount(text, 'ETH')).toBeDefined();
    }
  });

  it('is no number of JavaScript, which may have changed on its way', () => {
    expect(() => parseAmount(5 as never)).toThrow(InvalidAmountError);
    expect(checkAmount(5 as never, 'USD')).toBeDefined();
  });

  it('is rounded down by default, and half up if asked', () => {
    expect(roundAmount('1.999', 2)).toBe('1.99');
    expect(roundAmount('1.995', 2, 'half-up')).toBe('2');
  });
});

describe('an amount of Bitcoin', () => {
  it.each([
    ['21000', 'MSAT', '21000'],
    ['21', 'SAT', '21000'],
    ['21', 'SATS', '21000'],
    ['0.0005', 'SAT', '0.5'],
    ['0.00000001', 'BTC', '1000'],
    ['1', 'BTC', '100000000000'],
  ])('is exact in thousandths of a satoshi: %s %s', (amount, unit, msat) => {
    expect(toMsat(amount, unit)).toBe(msat);
  });

  it('has no thousandths of a satoshi in another unit', () => {
    for (const unit of ['USD', 'sat', '']) expect(toMsat('1', unit)).toBeNull();
  });
});

describe('a currency', () => {
  const DECIMALS_OF = [
    [0, ['UGX', 'XOF', 'XAF', 'RWF', 'GNF', 'SAT', 'MSAT']],
    [2, ['KES', 'GHS', 'NGN', 'ZAR', 'USD', 'ZMW', 'SLE', 'CDF', 'TZS', 'EGP', 'MWK', 'ETB', 'MZN', 'LSL']],
    [6, ['USDC', 'USDT', 'USDT0', 'ADA']],
    [7, ['XLM']],
    [8, ['BTC', 'HBAR']],
    [9, ['HASH']],
    [18, ['ETH', 'CUSD', 'BUSD', 'USDGLO', 'CKES', 'CGHS', 'FUSE']],
  ] as const;

  it.each(DECIMALS_OF)('has %d decimals: %j', (decimals, currencies) => {
    for (const currency of currencies) {
      expect([currency, decimalsOf(currency)]).toEqual([currency, decimals]);
      const finest = decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`;
      expect(checkAmount(finest, currency)).toBeUndefined();
      const finer = decimals === 0 ? '1.1' : `${finest}1`;
      expect(checkAmount(finer, currency)).toBeDefined();
    }
  });

  it('has no known decimals if it is not in the list', () => {
    for (const unknown of ['DOGE', 'constructor', '']) expect(decimalsOf(unknown)).toBeUndefined();
  });

  it('has, by checkAmount, a sentence about an amount with too many decimals, and about one that is not above zero', () => {
    expect(checkAmount('10', 'UGX')).toBeUndefined();
    expect(checkAmount('10.00', 'UGX')).toBeUndefined();
    expect(checkAmount('10.5', 'UGX')).toBe('An amount in UGX has no decimals.');
    expect(checkAmount('10.505', 'USD')).toBe('An amount in USD has at most 2 decimals.');
    expect(checkAmount('0', 'USD')).toBe('The amount must be above zero.');
    expect(checkAmount('-1', 'USD')).toBe('The amount must be above zero.');
    expect(checkAmount('1.123456789', 'DOGE')).toBeUndefined();
  });
});

describe('an amount on the wire', () => {
  it('is the same decimal after a JSON number', () => {
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
  ])('is not %s (UnsafeAmountError), which a JSON number cannot carry', (text) =>
    expect(() => toWireNumber(text)).toThrow(UnsafeAmountError),
  );

  it('has up to fifteen digits, wherever the point is', () => {
    expect(toWireNumber('999999999999.999')).toBe(999_999_999_999.999);
    expect(toWireNumber('0.123456789012345')).toBe(0.123456789012345);
    expect(toWireNumber('-123456789012345')).toBe(-123_456_789_012_345);
    expect(toWireNumber('0')).toBe(0);
    // It would survive as a double, and not as a decimal of another reader.
    expect(() => toWireNumber('1234567890123456')).toThrow(UnsafeAmountError);
    expect(() => toWireNumber('123456789012345.5')).toThrow(UnsafeAmountError);
  });

  it.each([
    ['InvalidAmountError', 'parseAmount', () => parseAmount('12345x')],
    ['UnsafeAmountError', 'toWireNumber', () => toWireNumber('9007199254740993')],
  ])('is not shown in %s, by %s', (name, _by, act) => {
    expect(act).toThrow(expect.objectContaining({ name, message: expect.not.stringMatching(/12345|9007/) }));
  });
});
