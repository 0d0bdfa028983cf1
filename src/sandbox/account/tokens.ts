import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';

/** "A session token lives 1 h …; an API key … does not expire" (the live service). Refresh tokens do not, either. */
export const SESSION_LIFE_MS = 3_600_000;

/** `verification`: a human verification that was used; it works once. */
type TokenKind = 'session' | 'refresh' | 'api-key' | 'verification';

/** Tokens that the sandbox issued. Only their digests are kept. */
export interface Tokens {
  /** Inside `database.write`. */
  keep(kind: TokenKind, token: string, livesMs?: number): void;
  /** Whether it was given out, and has not expired. */
  isValid(kind: TokenKind, token: string): boolean;
}

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

export function createTokens(deps: { database: Database; clock: Clock }): Tokens {
  const { database, clock } = deps;
  return {
    keep(kind, token, livesMs) {
      database.run(
        'INSERT OR REPLACE INTO tokens (digest, kind, expires_at) VALUES (?, ?, ?)',
        digestOf(token),
        kind,
        livesMs === undefined ? null : clock.now() + livesMs,
      );
    },
    isValid: (kind, token) =>
      database.get(
        'SELECT digest FROM tokens WHERE digest = ? AND kind = ? AND (expires_at IS NULL OR expires_at > ?)',
        digestOf(token),
        kind,
        clock.now(),
      ) !== undefined,
  };
}
