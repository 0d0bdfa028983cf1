import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from './refusal.js';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Refuses a request that does not carry `Authorization: Bearer <token>` with the right token. */
export function createAuthenticate(token: string): (authorization: string | undefined) => void {
  // Digests have one length whatever was sent; timingSafeEqual throws on unequal ones.
  const expected = digest(`Bearer ${token}`);
  return (authorization) => {
    if (authorization === undefined || !timingSafeEqual(digest(authorization), expected)) throw unauthorized();
  };
}

export const unauthorized = () => new Refusal(401, 'INVALID_API_KEY', 'Unauthorized');
