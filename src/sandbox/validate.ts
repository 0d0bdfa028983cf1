import type { z } from 'zod';
import { badMembers, type MemberError } from './refusal.js';

/** The value as its schema reads it, or a 400 that names every member at fault. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badMembers(result.error.issues.flatMap(membersAtFault));
}

function membersAtFault(issue: z.core.$ZodIssue): MemberError[] {
  const path = issue.path.map(String);
  // An unknown member is reported by zod on its parent; the member at fault is the unknown one.
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a member of this request' }));
  }
  return [{ path: path.join('.'), message: issue.message }];
}
