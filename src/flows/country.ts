import countries from 'i18n-iso-countries';
import { z } from 'zod';

/** A country in a flow's input: ISO-2 or ISO-3, as the interface says of `country_code`. Kept as it came. */
export const country = () =>
  z.string().refine((text) => /^[A-Za-z]{2,3}$/.test(text) && countries.isValid(text), {
    message: 'must be a country by ISO 3166, in two or three letters',
  });
