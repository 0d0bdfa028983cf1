import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { z } from 'zod';

/**
 * A phone number in a flow's input, in E.164. Possible is enough: whether a range of numbers is in use is for the
 * networks to say, whose newest ranges no library knows.
 */
export const phoneNumber = () =>
  z.string().refine((text) => /^\+\d+$/.test(text) && parsePhoneNumberFromString(text)?.isPossible() === true, {
    message: 'must be a phone number in E.164: "+", the country code, the number, without spaces',
  });

/** A number that only tells whom to call, beside the account that is paid: the wire has it in national form, too. */
export const contactNumber = () =>
  z.string().refine((text) => /^\d{6,14}$/.test(text) || phoneNumber().safeParse(text).success, {
    message: 'must be a phone number, in E.164 or in national digits',
  });
