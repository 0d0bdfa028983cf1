import { z } from 'zod';
import { readRoles, ROLES, type Roles } from '../protocol/permissions.js';

/** A token that may call the gateway. Records show `name` as the actor. */
export interface GatewayToken {
  readonly name: string;
  readonly role: Roles;
  readonly secret: string;
}

export const DEVELOPMENT_TOKEN: GatewayToken = { name: 'dev', role: 'admin', secret: 'dev-token' };

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
/** What an Authorization header can carry after `Bearer `. */
const SECRET = /^[A-Za-z0-9._~+/=-]{8,512}$/;

const token = (entry: string): GatewayToken | string => {
  const [name = '', role = '', ...rest] = entry.split(':');
  const secret = rest.join(':');
  const known = readRoles(role);
  if (!NAME.test(name) || known === undefined) {
    return `must be name:role:secret with a role of ${ROLES.join(', ')}, or several joined by "+"`;
  }
  if (!SECRET.test(secret)) return 'needs a secret of 8 to 512 characters, letters, digits and . _ ~ + / = -';
  return { name, role: known, secret };
};

export const secretsOfTokens = (tokens: readonly GatewayToken[] | undefined): readonly string[] =>
  (tokens ?? []).map(({ secret }) => secret);

/** Characters of 128 random bits in base64url. */
const LEAST_SECRET = 22;

/** Why tokens are not acceptable outside of development, as a sentence that repeats none of them. */
export function tokensProblem(
  tokens: readonly GatewayToken[],
  { development }: { readonly development: boolean },
): string | undefined {
  if (development) return undefined;
  const texts = tokens.map(({ secret }) => secret);
  if (texts.includes(DEVELOPMENT_TOKEN.secret)) {
    return 'GATEWAY_TOKENS has the token of development, which is refused outside of development.';
  }
  if (texts.some((secret) => secret.length < LEAST_SECRET)) {
    return `GATEWAY_TOKENS has a secret of fewer than ${LEAST_SECRET} characters: 128 random bits take that many.`;
  }
  return undefined;
}

/** `GATEWAY_TOKENS`: comma-separated `name:role:secret`, the role perhaps `role+role`. Two tokens may share a name (rotation), but no secret. */
export const gatewayTokens = () =>
  z.string().transform((text, context): readonly GatewayToken[] => {
    const tokens: GatewayToken[] = [];
    const entries = text.split(',').map((entry) => entry.trim());
    for (const [index, entry] of entries.entries()) {
      const parsed = token(entry);
      if (typeof parsed === 'string') context.addIssue(`entry ${index + 1} ${parsed}`);
      else tokens.push(parsed);
    }
    if (new Set(tokens.map(({ secret }) => secret)).size !== tokens.length) context.addIssue('has one secret twice');
    return tokens;
  });
