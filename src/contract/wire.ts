import { z } from 'zod';
import { readAmount } from '../readers/amount.js';
import { flag, text } from './reading.js';

/**
 * Converts `data` as we read it back to the interface's own types: what the interface calls a number becomes a JSON
 * number again, if one can carry it exactly; else it stays text. Unknown members stay unchanged.
 */
export function onTheWire(schema: z.ZodType, data: unknown): unknown {
  const read = inner(schema);
  if (read.meta()?.['wire'] === 'number') return typeof data === 'string' ? asNumber(data) : data;
  if (!(read instanceof z.ZodObject) || typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const shape = read.shape as Readonly<Record<string, z.ZodType>>;
  return Object.fromEntries(
    Object.entries(data).map(([member, value]) => [
      member,
      Object.hasOwn(shape, member) ? onTheWire(shape[member] as z.ZodType, value) : value,
    ]),
  );
}

/** Members of an answer's `data`, by the contract. */
export function membersOf(schema: z.ZodType): readonly string[] {
  const read = inner(schema);
  return read instanceof z.ZodObject ? Object.keys(read.shape) : [];
}

function asNumber(text: string): number | string {
  const value = Number(text);
  return readAmount(value) === text ? value : text;
}

function inner(schema: z.ZodType): z.ZodType {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodNullable || at instanceof z.ZodCatch) {
    at = at.unwrap() as z.ZodType;
  }
  return at;
}

/** "Common response envelope": every response body has these members. `data` is read by the operation's own schema. */
export const Envelope = z.looseObject({
  success: flag(),
  message: text().nullish().catch(undefined),
  data: z.unknown().optional(),
});
export type Envelope = z.infer<typeof Envelope>;
