import { z } from 'zod';
import { Card } from '../../contract/deposit.js';

/*
 * A card as callers give it. What is wrong is named by member, never by value: these messages go back to the caller and
 * must hold nothing of a card.
 */

const SEPARATORS = /[ -]/g;

/** Spaces and dashes are how people write card numbers; only digits are sent. */
const number = () =>
  z
    .string('must be text')
    .max(40, 'must have 12 to 19 digits')
    .transform((text) => text.replaceAll(SEPARATORS, ''))
    .refine((digits) => /^\d{12,19}$/.test(digits), 'must have 12 to 19 digits')
    .refine((digits) => !/^\d{12,19}$/.test(digits) || passesLuhn(digits), 'is no card number: a digit is wrong');

export const CardGiven = Card.extend({
  number: number(),
  expiryMonth: z.string('must be text').regex(/^(0?[1-9]|1[0-2])$/, 'must be a month, 01 to 12'),
  expiryYear: z.string('must be text').regex(/^(20)?\d{2}$/, 'must be a year of two or four digits'),
  cvv: z.string('must be text').regex(/^\d{3,4}$/, 'must have 3 or 4 digits'),
});

/** ISO/IEC 7812: every second digit from the right counts double; the sum of all digits ends in 0. */
export function passesLuhn(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

/** First six and last four digits, which may be shown. */
export function maskedNumber(digits: string): string {
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4);
}
