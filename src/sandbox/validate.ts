import { createHash, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { badMembers, type MemberError, Refusal } from './refusal.js';
import type { Tokens } from './account/tokens.js';

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

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Refuses a request without `Authorization: Bearer <token>`: the sandbox's own token, a session token, or an API key
 * that it issued.
 */
export function createAuthenticate(token: string, tokens: Tokens): (authorization: string | undefined) => void {
  // Digests always have the same length; timingSafeEqual throws on unequal ones.
  const expected = digest(`Bearer ${token}`);
  return (authorization) => {
    if (authorization === undefined) throw unauthorized();
    if (timingSafeEqual(digest(authorization), expected)) return;
    const [, given = ''] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (!tokens.isValid('session', given) && !tokens.isValid('api-key', given)) throw unauthorized();
  };
}

export const unauthorized = () => new Refusal(401, 'INVALID_API_KEY', 'Unauthorized');
