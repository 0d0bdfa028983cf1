import { Big } from 'big.js';
import { readAmount } from './readers/amount.js';

/**
 * Exact amounts as plain decimal text ("1250", "0.00000001"), with which flows compute. JavaScript numbers appear only
 * on the wire; amounts from outside become such text by `readAmount`. Lengths are bounded, since "1e1000000000" is eleven
 * characters and a gigabyte once printed. Workflows import this file: it must stay deterministic.
 */

const MAX_DIGITS = 30;
const PLAIN = new RegExp(`^(?!-0(?:\\.0+)?$)-?(?:0|[1-9]\\d{0,${MAX_DIGITS - 1}})(?:\\.\\d{1,${MAX_DIGITS}})?$`);
/** Every decimal of up to 15 significant digits survives a double; of those with 16 and 17 only some do. */
export const MAX_EXACT_DIGITS = 15;
/** As a factor: multiplication is exact, while division rounds at `Big.DP` digits. */
const ONE_BPS = '0.0001';

// A constructor of our own, so that `Big.DP` and `Big.NE` set elsewhere do not change our results.
const Exact = Big();
const print = (value: Big): string => (value.eq(0) ? '0' : value.toFixed());

/** The text is not a plain decimal number of at most 30 digits on each side of the point. Carries no value. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError';
}

/** The amount cannot be sent as a JSON number: the service would read another amount than was meant. */
export class UnsafeAmountError extends Error {
  override readonly name = 'UnsafeAmountError';
}

const exact = (text: string): Big => {
  if (typeof text !== 'string' || !PLAIN.test(text)) {
    throw new InvalidAmountError('not a plain decimal number, such as "1250" or "0.5"');
  }
  return new Exact(text);
};

/** The shortest text of the same amount: "1.50" → "1.5". Throws InvalidAmountError on " 1", "01", "1e5", "-0", "+1". */
export const parseAmount = (text: string): string => print(exact(text));

/** The exact sum; "0" for no amounts. */
export const addAmounts = (...amounts: readonly string[]): string =>
  print(amounts.reduce((sum, amount) => sum.plus(exact(amount)), new Exact(0)));

/** Exactly `from - amount`; may be negative. */
export const subtractAmounts = (from: string, amount: string): string => print(exact(from).minus(exact(amount)));

export const compareAmounts = (left: string, right: string): -1 | 0 | 1 => exact(left).cmp(exact(right));

/** By value: "1.50" is the same amount as "1.5". */
export const sameAmount = (left: string, right: string): boolean => exact(left).eq(exact(right));

export const isPositiveAmount = (text: string): boolean => exact(text).gt(0);

/** Exactly `amount × bps / 10,000`; not rounded (see `roundAmount`). `bps` is a whole number. */
export const multiplyByBps = (amount: string, bps: number): string => print(portion(exact(amount), bps));

/** Whether `amount` is at most `limitBps` (1 = 0.01 %) away from `reference`, in either direction; exact at the edge. */
export const withinBps = (amount: string, limitBps: number, reference: string): boolean => {
  const expected = exact(reference);
  return exact(amount).minus(expected).abs().lte(portion(expected.abs(), limitBps));
};

const portion = (amount: Big, bps: number): Big => {
  if (!Number.isSafeInteger(bps) || bps < 0) throw new RangeError('basis points must be a whole number, zero or more');
  return amount.times(bps).times(ONE_BPS);
};

/** Thousandths of a satoshi in one of each unit of Bitcoin, in basis points. */
const MSAT_IN_BPS: Readonly<Record<string, number>> = { MSAT: 1e4, SAT: 1e7, SATS: 1e7, BTC: 1e15 };

/** An amount in a unit of Bitcoin, in thousandths of a satoshi, exactly; null if it is no such unit. */
export function toMsat(amount: string, unit: string): string | null {
  const bps = MSAT_IN_BPS[unit];
  return bps === undefined ? null : multiplyByBps(amount, bps);
}

/** Rounds to this many decimals: `down` drops the rest (towards zero), `half-up` rounds it. */
export const roundAmount = (amount: string, decimals: number, mode: 'down' | 'half-up' = 'down'): string =>
  print(exact(amount).round(decimals, mode === 'down' ? Exact.roundDown : Exact.roundHalfUp));

/**
 * Decimals by currency, unit or token, ISO 4217 for fiat. Tokens have those of their main contract; if a chain deviates
 * (USDC on Stellar has 7), the smaller number is used.
 */
const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...['UGX', 'XOF', 'XAF', 'RWF', 'GNF'].map((fiat) => [fiat, 0] as const),
  ...['KES', 'GHS', 'NGN', 'ZAR', 'USD', 'ZMW', 'SLE', 'CDF', 'TZS', 'EGP', 'MWK', 'ETB', 'MZN', 'LSL'].map(
    (fiat) => [fiat, 2] as const,
  ),
  ...['SAT', 'MSAT'].map((unit) => [unit, 0] as const),
  ...['USDC', 'USDT', 'USDT0', 'ADA'].map((token) => [token, 6] as const),
  ...['ETH', 'CUSD', 'BUSD', 'USDGLO', 'CKES', 'CGHS', 'FUSE'].map((token) => [token, 18] as const),
  ['XLM', 7],
  ['BTC', 8],
  ['HBAR', 8],
  ['HASH', 9],
]);

/** The number of decimals of this currency, unit or token; undefined for an unknown one. */
export const decimalsOf = (currency: string): number | undefined => DECIMALS.get(currency);

/** What is wrong with an amount of money in this currency, as a sentence for people; undefined if it is valid. */
export const checkAmount = (text: string, currency: string): string | undefined => {
  if (typeof text !== 'string' || !PLAIN.test(text))
    return 'The amount must be a plain decimal number, such as "1250.5".';
  const value = new Exact(text);
  if (value.lte(0)) return 'The amount must be above zero.';
  const decimals = decimalsOf(currency);
  if (decimals === undefined || value.eq(value.round(decimals, Exact.roundDown))) return undefined;
  return decimals === 0
    ? `An amount in ${currency} has no decimals.`
    : `An amount in ${currency} has at most ${decimals} decimals.`;
};

/**
 * The JSON number that its reader reads as this very decimal, as a double or as a decimal. Throws UnsafeAmountError if
 * there is none (more than 15 significant digits), InvalidAmountError if it is not an amount.
 */
export const toWireNumber = (text: string): number => {
  const plain = parseAmount(text);
  const wire = Number(plain);
  const digits = plain.replace('.', '').replace(/^-?0*/, '').length;
  if (digits > MAX_EXACT_DIGITS || readAmount(wire) !== plain) {
    throw new UnsafeAmountError('the amount has more digits than a JSON number can carry exactly');
  }
  return wire;
};
