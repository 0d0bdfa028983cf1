import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Live } from '../../config/secret-files.js';
import { type GatewayToken, TOKEN_ROLES, type TokenRole } from '../../config/gateway-tokens.js';
import { networkOf, type RateLimit } from './rate-limit.js';
import { Refusal, TokenRefusal } from './refusal.js';

/** Who calls: the token's name is the actor of every order. */
export interface Caller {
  readonly name: string;
  readonly role: TokenRole;
}

/** Each role may do what the roles before it may. */
const rank = (role: TokenRole): number => TOKEN_ROLES.indexOf(role);

export interface TokenCheck {
  /**
   * @param besides tokens that are good for this path alone
   * @throws TokenRefusal without a token that we know, Refusal 403 where its role does not suffice, 429 where it comes too often
   */
  require(request: FastifyRequest, role: TokenRole, besides?: readonly GatewayToken[]): Caller;
}

/** The limit is one for each token's name, and one for each address that guesses. */
export function createTokenCheck(tokens: Live<readonly GatewayToken[]>, limit: RateLimit): TokenCheck {
  /** A handler may ask more than once. */
  const counted = new WeakSet<FastifyRequest>();
  return {
    require(request, role, besides = []) {
      const given = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(request.headers.authorization ?? '')?.[1];
      // Every token is compared, so that the time says nothing about which one it was.
      const among = (known: readonly GatewayToken[]) =>
        given === undefined ? undefined : known.filter(({ secret }) => equalSecrets(given, secret))[0];
      const token = among([...tokens(), ...besides]) ?? among(tokens('now'));
      if (!counted.has(request))
        limit.take(token === undefined ? `address ${networkOf(request.ip)}` : `token ${token.name}`);
      counted.add(request);
      if (token === undefined) throw new TokenRefusal();
      if (rank(token.role) < rank(role)) {
        throw new Refusal(403, `This needs a token of the role ${role}; ${token.name} has the role ${token.role}.`);
      }
      return { name: token.name, role: token.role };
    },
  };
}

/** Compares in constant time; `timingSafeEqual` itself throws where the lengths differ, which are no secret. */
export function equalSecrets(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}
