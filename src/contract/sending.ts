import { z } from 'zod';

/**
 * Schemas for what we send. Strict: we never send what the interface does not allow. On the wire amounts are JSON
 * numbers; a decimal that a number cannot carry exactly (more than 15 significant digits, NaN, 1e400) is refused, since
 * the service would read another amount than the caller meant. A tiny one, which JavaScript prints as `5e-7`, is exact.
 */

const MAX_EXACT_DIGITS = 15;

const significantDigits = (value: number) =>
  String(value)
    .replace(/e-\d+$/, '')
    .replace('.', '')
    .replace(/^0+/, '').length;

const INEXACT = `has more than ${MAX_EXACT_DIGITS} significant digits, which a JSON number cannot carry exactly`;

/** A reader of exact JSON leaves a number that JavaScript would change as the text that was sent. */
const LONG_NUMBER = /^-?(?=(?:\.?\d){16}|.*e)\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

const number = () =>
  z.number({ error: ({ input }) => (typeof input === 'string' && LONG_NUMBER.test(input) ? INEXACT : undefined) });

const exactly = (amount: z.ZodNumber) =>
  amount.refine((value) => !/e\+/.test(String(value)) && significantDigits(value) <= MAX_EXACT_DIGITS, {
    message: INEXACT,
  });

/** Finite, not negative, and exact as a decimal. */
export const decimalNumber = () => exactly(number().nonnegative('must not be below zero'));

/** An amount of money: a `decimalNumber` above zero. */
export const moneyNumber = () => exactly(number().positive('must be above zero'));

/** References of our grammar: they become part of URLs, ids and claims. At most 128 characters on the wire. */
export const REFERENCE_PATTERN = /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Longest reference of a caller: seven characters are reserved for our own suffix `.refund`. */
export const MAX_CALLER_REFERENCE_LENGTH = 121;

export const reference = () =>
  z.string().regex(REFERENCE_PATTERN, 'must be 1 to 128 of A-Z a-z 0-9 . _ : -, begin with a letter or digit, no ".."');

export const timestampToSend = () => z.iso.datetime({ offset: true });

/** `http` or `https` only: a callback to any other scheme can never be called. */
export const urlToSend = () => z.url({ protocol: /^https?$/ });

/** `"0250"`, `123456` and `"ABSA"` are all seen on the wire; text keeps its leading zeros. */
export const bankCode = () => z.union([z.string().min(1), z.int().nonnegative()]);
