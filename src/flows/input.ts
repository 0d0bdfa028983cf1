import { z } from 'zod';
import countries from 'i18n-iso-countries';
import { parsePhoneNumberFromString, isPossiblePhoneNumber, type CountryCode } from 'libphonenumber-js';
import { MAX_EXACT_DIGITS, checkAmount } from '../money.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { MAX_CALLER_REFERENCE_LENGTH, REFERENCE_PATTERN } from '../contract/sending.js';
import { isRefundReference, REFUND_SUFFIX } from '../protocol/vocabulary.js';

/** Decimals of the token that has the most. */
const MAX_DECIMALS = 18;
const NO_AMOUNT = 'must be a decimal number such as "1250.50", with nothing that separates thousands';

/**
 * An amount of money in a flow's input: a decimal string (preferred) or a JSON number, above zero, and exact as a JSON
 * number, since the service takes JSON numbers. Becomes a canonical decimal string.
 */
export const decimalAmount = () =>
  z
    .union([z.string(), z.number()])
    .transform((value, context) => {
      const amount = readAmount(value);
      if (amount !== undefined) return amount;
      context.issues.push({ code: 'custom', input: value, message: NO_AMOUNT });
      return z.NEVER;
    })
    .refine((text) => (text.split('.')[1]?.length ?? 0) <= MAX_DECIMALS, {
      message: `has more than ${MAX_DECIMALS} decimals`,
      abort: true,
    })
    .refine((text) => text.replace('.', '').replace(/^0+/, '').length <= MAX_EXACT_DIGITS, {
      message: `has more than ${MAX_EXACT_DIGITS} significant digits, which a JSON number (all that the service takes) cannot carry exactly`,
      abort: true,
    })
    .refine((text) => text !== '0' && !text.startsWith('-'), { message: 'must be above zero', abort: true });

/** A currency in a member that the interface calls a "string": in its spelling, so that limits and comparisons hold. */
export const code = () =>
  z.string().transform((text, context) => {
    const read = readCode(text);
    if (read !== undefined) return read;
    context.issues.push({ code: 'custom', input: text, message: 'must be the code of a currency, such as KES' });
    return z.NEVER;
  });

/** A caller's reference: our grammar, at most 121 characters, and not with the suffix that our refunds use. */
export const callerReference = () =>
  z
    .string()
    .regex(REFERENCE_PATTERN, 'must be A-Z a-z 0-9 . _ : -, begin with a letter or digit, and have no ".."')
    .max(MAX_CALLER_REFERENCE_LENGTH, `must have at most ${MAX_CALLER_REFERENCE_LENGTH} characters`)
    .refine((text) => !isRefundReference(text), {
      message: `must not end in "${REFUND_SUFFIX}", which our refunds use`,
    });

const MAX_CALLBACK_URL_LENGTH = 2_048;

/** The sender of callbacks checks whether a URL may be called, by its settings. */
const callbackUrl = () =>
  z
    .url({ protocol: /^https?$/, message: 'must be a URL that begins with https' })
    .max(MAX_CALLBACK_URL_LENGTH, `must have at most ${MAX_CALLBACK_URL_LENGTH} characters`);

/** Members that every flow's input may have. */
export const commonInput = {
  /** URL for status changes. */
  callbackUrl: callbackUrl().optional(),
  /**
   * Seconds from the start until the flow checks the status a last time and then parks or expires. Default:
   * `defaultDeadlineSeconds`.
   */
  deadlineSeconds: z.int().min(1).max(2_592_000).optional(),
  /** Multiplies every wait of Towline; other than 1 only with a service on loopback. */
  timeScale: z.number().positive().max(1).default(1),
};

/** By its code of two or three letters, or by its English name; undefined if it is no country. */
export const alpha2Of = (text: string): string | undefined =>
  countries.isValid(text) ? countries.toAlpha2(text.toUpperCase()) : countries.getAlpha2Code(text, 'en');

/** A country in a member that the interface calls a "string": its own samples have codes and names. Kept unchanged. */
export const country = () =>
  z.string().refine((text) => /\p{L}/u.test(text) && alpha2Of(text) !== undefined, {
    message: 'must be a country: its code by ISO 3166 in two or three letters, or its English name',
  });

/** ISO-2 or ISO-3, as the interface says about `country_code`. Kept unchanged. */
export const countryCode = () =>
  z.string().refine((text) => /^[A-Za-z]{2,3}$/.test(text) && countries.isValid(text), {
    message: 'must be a country by ISO 3166, in two or three letters',
  });

/**
 * A phone number in a flow's input, in E.164. It is only checked for a possible form: the networks decide which ranges
 * of numbers are in use, and no library knows their newest ranges.
 */
export const phoneNumber = () =>
  z.string().refine((text) => /^\+\d+$/.test(text) && parsePhoneNumberFromString(text)?.isPossible() === true, {
    message: 'must be a phone number in E.164: "+", the country code, the number, without spaces',
  });

/** A number for contact only, beside the account that is paid: on the wire it may also have national form. */
export const contactNumber = () =>
  z.string().refine((text) => /^\d{6,14}$/.test(text) || phoneNumber().safeParse(text).success, {
    message: 'must be a phone number, in E.164 or in national digits',
  });

export const LOCAL_PHONE_PROBLEM =
  'must be a phone number in E.164 ("+", the country code, the number), or a national one of the country given';

/**
 * E.164, or national in a known country. The service's samples use the national form in one place, without saying where
 * it is allowed, so it is accepted if the country is known.
 */
export function isPhoneNumber(text: string, country: string | undefined): boolean {
  if (phoneNumber().safeParse(text).success) return true;
  return country !== undefined && /^\d+$/.test(text) && isPossiblePhoneNumber(text, country as CountryCode);
}

/** For `superRefine`: the amount has no more decimals than its currency or token has. Names the member at fault. */
export function fitsCurrency<A extends string, C extends string>(amountMember: A, currencyMember: C) {
  return (input: { readonly [M in A | C]?: string | undefined }, context: z.core.$RefinementCtx): void => {
    const { [amountMember]: amount, [currencyMember]: currency } = input as Record<string, string | undefined>;
    checkFits(context, [amountMember], amount, currency);
  };
}

/** The same for members further inside. */
export function checkFits(
  context: z.core.$RefinementCtx,
  path: readonly string[],
  amount: string | undefined,
  currency: string | undefined,
): void {
  if (amount === undefined || currency === undefined) return;
  const problem = checkAmount(amount, currency);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: [...path], message: problem });
}
