import { SESSION_LIFE_MS, type Tokens } from '../account/tokens.js';
import { Refusal } from '../refusal.js';
import type { Handler } from './handler.js';

const refused = (why: string) => new Refusal(400, 'INVALID_VERIFICATION_TOKEN', `The verification token ${why}`);

/** Any token is right, once; one that begins with `invalid` or `expired` is that. */
export function createVerifyHuman(deps: { tokens: Tokens; createId: () => string }): Handler<'verifyHuman'> {
  const { tokens, createId } = deps;
  return ({ body: { verificationToken } }) => {
    const [, flaw] = /^(invalid|expired)/.exec(verificationToken) ?? [];
    if (flaw !== undefined) return refused(flaw === 'expired' ? 'has expired' : 'is not valid');
    if (tokens.isValid('verification', verificationToken)) return refused('was used before');
    tokens.keep('verification', verificationToken);
    const session = { token: `session-${createId()}`, refresh_token: `refresh-${createId()}` };
    tokens.keep('session', session.token, SESSION_LIFE_MS);
    tokens.keep('refresh', session.refresh_token);
    const ids = { user_id: `USR-${createId()}`, session_id: `SES-${createId()}`, token_id: `TOK-${createId()}` };
    return { message: 'Human verification complete', data: { ...ids, ...session } };
  };
}
