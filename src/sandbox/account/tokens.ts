import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Handlers } from '../handler.js';
import { Refusal } from '../refusal.js';

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

const refused = (why: string) => new Refusal(400, 'INVALID_VERIFICATION_TOKEN', `The verification token ${why}`);

export const tokenHandlers = ({
  tokens,
  createId,
}: {
  readonly tokens: Tokens;
  readonly createId: () => string;
}): Pick<Handlers, 'createApiKey' | 'verifyHuman'> => ({
  // Each call makes a new key; those before stay valid.
  createApiKey() {
    const key = `key-${createId()}`;
    tokens.keep('api-key', key);
    return { message: 'API key created', data: { key } };
  },
  // Any token is right, once; one that begins with `invalid` or `expired` is that.
  verifyHuman({ body: { verificationToken } }) {
    const [, flaw] = /^(invalid|expired)/.exec(verificationToken) ?? [];
    if (flaw !== undefined) return refused(flaw === 'expired' ? 'has expired' : 'is not valid');
    if (tokens.isValid('verification', verificationToken)) return refused('was used before');
    tokens.keep('verification', verificationToken);
    const session = { token: `session-${createId()}`, refresh_token: `refresh-${createId()}` };
    tokens.keep('session', session.token, SESSION_LIFE_MS);
    tokens.keep('refresh', session.refresh_token);
    const ids = { user_id: `USR-${createId()}`, session_id: `SES-${createId()}`, token_id: `TOK-${createId()}` };
    return { message: 'Human verification complete', data: { ...ids, ...session } };
  },
});
