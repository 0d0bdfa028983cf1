import { isPossiblePhoneNumber, type CountryCode } from 'libphonenumber-js';
import { phoneNumber } from './phone-number.js';

export const LOCAL_PHONE_PROBLEM =
  'must be a phone number in E.164 ("+", the country code, the number), or a national one of the country given';

/**
 * E.164, or national in a country that is known. The service's samples are national in one place, without saying where
 * that is legal, so it is not refused where it can be told whose number it is.
 */
export function isPhoneNumber(text: string, country: string | undefined): boolean {
  if (phoneNumber().safeParse(text).success) return true;
  return country !== undefined && /^\d+$/.test(text) && isPossiblePhoneNumber(text, country as CountryCode);
}
