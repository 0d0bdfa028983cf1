import { z } from 'zod';
import { readAmount } from '../readers/amount.js';

/**
 * Schemas for what we read (answers and events). Deliberately tolerant: the service's own pages contradict one another,
 * and a strict reader would turn a paid transfer into an error. Unknown members are kept, unknown words pass through as
 * text, a number may come as a string and vice versa. Only members that a caller marks as required are required.
 */

/** Text; a number in its place is taken as text, so that `reference_number: 12` and `"12"` read the same. */
export const text = () => z.union([z.string(), z.number().transform(String)]);

/** A number in the interface, and an identifier to us: kept as text, and shown to callers as the number that it is. */
export const numberAsText = () => text().meta({ wire: 'number' });

/** An amount or a count, as plain decimal text: JavaScript numbers of money are never computed with. */
export const amount = () =>
  z
    .union([z.string(), z.number()])
    .transform((value, context) => {
      const plain = readAmount(value);
      if (plain !== undefined) return plain;
      context.issues.push({ code: 'custom', input: value, message: 'not a decimal number of a sane length' });
      return z.NEVER;
    })
    .meta({ wire: 'number' });

export const flag = () => z.union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')]);

/** ISO 8601 in the interface; kept unchanged. */
export const timestamp = () => z.string().meta({ format: 'date-time' });

/** A word of a vocabulary. Unknown words are kept, never refused. */
export const word = (vocabulary: readonly string[]) => z.string().meta({ vocabulary: [...vocabulary] });

/** An object whose inner fields the interface does not show. */
export const opaque = () => z.looseObject({});

/** An object by the interface, but plain text on some pages of the service (errors, chain, token). */
export const opaqueOrText = () => z.union([z.looseObject({}), text()]);

/**
 * A record of the service. Only the members in `required` must be present and readable. Any other may be missing or
 * null. If its value cannot be read it is undefined, which for all but the facts that identify the record is the same as
 * missing: a cosmetic member must never make a paid transfer unreadable. An empty text that stands for no amount is null.
 * Unknown members are kept. (zod drops `__proto__` as a key.)
 */
export function record<S extends z.ZodRawShape, const R extends readonly (keyof S & string)[]>(shape: S, required: R) {
  type Shape = { [K in keyof S]: K extends R[number] ? S[K] : z.ZodOptional<z.ZodNullable<S[K] & z.ZodType>> };
  const tolerant: Record<string, z.ZodType> = {};
  for (const [member, schema] of Object.entries(shape)) {
    tolerant[member] = required.includes(member)
      ? (schema as z.ZodType)
      : (schema as z.ZodType).nullish().catch(emptyOrUnreadable);
  }
  return z.looseObject(tolerant as unknown as Shape);
}

/** The JSON Schema is made without a value. */
const emptyOrUnreadable = (said?: { readonly input: unknown }) => (said?.input === '' ? null : undefined);
