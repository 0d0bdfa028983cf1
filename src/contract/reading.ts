import { z } from 'zod';

/**
 * Schemas for what we read (answers and events). Tolerant on purpose: the service's own pages contradict one another,
 * and a strict reader would turn a paid transfer into an error. Unknown members are kept, unknown words pass through
 * as text, a number may come as a string and the other way round. Only what a caller marks as required is required.
 */

/** Text; a number in its place is taken as text, so that `reference_number: 12` and `"12"` read the same. */
export const text = () => z.union([z.string(), z.number().transform(String)]);

/** An amount or a count, kept as the decimal text that was sent: JavaScript numbers of money are never computed with. */
export const amount = () =>
  z.union([
    z.string().regex(/^-?\d+(\.\d+)?$/, 'not a decimal number'),
    z.number().transform((value, context) => {
      if (Number.isFinite(value)) return String(value);
      context.issues.push({ code: 'custom', input: value, message: 'not a finite number' });
      return z.NEVER;
    }),
  ]);

export const flag = () => z.union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')]);

/** ISO 8601 by the interface; kept as it came. */
export const timestamp = () => z.string().meta({ format: 'date-time' });

/** A word of a vocabulary. Words that are not in it are kept, never refused. */
export const word = (vocabulary: readonly string[]) => z.string().meta({ vocabulary: [...vocabulary] });

/** An object whose inner fields the interface does not show. */
export const opaque = () => z.looseObject({});

/** An object by the interface, but plain text on some pages of the service (errors, chain, token). */
export const opaqueOrText = () => z.union([z.looseObject({}), text()]);

/** A record of the service: every member may be missing or null but those in `required`; unknown members are kept. */
export function record<S extends z.ZodRawShape, const R extends readonly (keyof S & string)[]>(shape: S, required: R) {
  type Shape = { [K in keyof S]: K extends R[number] ? S[K] : z.ZodOptional<z.ZodNullable<S[K] & z.ZodType>> };
  const tolerant: Record<string, z.ZodType> = {};
  for (const [member, schema] of Object.entries(shape)) {
    tolerant[member] = required.includes(member) ? (schema as z.ZodType) : (schema as z.ZodType).nullish();
  }
  return z.looseObject(tolerant as unknown as Shape);
}
