import { z } from 'zod';

/** A shape as TypeScript reads it: nothing of it is changed, and what a later version may add is no member yet. */
export type Json<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? Record<string, unknown> extends T
        ? Readonly<T>
        : { readonly [Member in keyof T as string extends Member ? never : Member]: Json<T[Member]> }
      : T;

/** ISO 8601, in UTC. */
export const at = () => z.iso.datetime();

/**
 * One of our words that later versions may add to (reasons, actions, stages). In the OpenAPI document it is text:
 * generated clients would refuse new values of an enumeration.
 */
export const word = <Word extends string>() => z.string() as unknown as z.ZodType<Word, Word>;

/** Of a page: how many entries it has. */
export const limit = (byDefault: number) => z.coerce.number<number>().int().min(1).max(500).default(byDefault);
