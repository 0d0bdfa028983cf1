import { createHash, timingSafeEqual } from 'node:crypto';
import type { Tokens } from './account/tokens.js';
import { Refusal } from './refusal.js';

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Refuses a request that does not carry `Authorization: Bearer <token>` with the sandbox's own token, a session token
 * or an API key that it gave out.
 */
export function createAuthenticate(token: string, tokens: Tokens): (authorization: string | undefined) => void {
  // Digests have one length whatever was sent; timingSafeEqual throws on unequal ones.
  const expected = digest(`Bearer ${token}`);
  return (authorization) => {
    if (authorization === undefined) throw unauthorized();
    if (timingSafeEqual(digest(authorization), expected)) return;
    const [, given = ''] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (!tokens.isValid('session', given) && !tokens.isValid('api-key', given)) throw unauthorized();
  };
}

export const unauthorized = () => new Refusal(401, 'INVALID_API_KEY', 'Unauthorized');
