import type { z } from 'zod';
import { type MemberError, Refusal } from './refusal.js';

const MAX_ERRORS = 20;

/** Parses a body, or refuses it with each member at fault. Messages of our schemas never repeat the input. */
export function parseBody<T>(schema: z.ZodType<T>, value: unknown, what = 'The body'): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors: MemberError[] = parsed.error.issues
    .slice(0, MAX_ERRORS)
    .map((issue) => ({ path: issue.path.map(String).join('.'), message: issue.message }));
  const members = [...new Set(errors.map(({ path }) => path).filter((path) => path !== ''))];
  const where = members.length === 0 ? '' : ` Look at ${members.join(', ')}.`;
  throw new Refusal(400, `${what} is not what is expected here.${where}`, { errors });
}
