import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Live } from '../../config/secret-files.js';
import type { GatewayToken } from '../../config/gateway-tokens.js';
import { mayActAs, type Permission, PERMISSIONS, type Role } from '../../protocol/permissions.js';
import type { KnownNetworks } from './known-networks.js';
import { createPlaces, whenOver } from './places.js';
import { networkOf, type RateLimit } from './rate-limit.js';
import { Refusal, TokenRefusal } from './refusal.js';

/** Who calls: the token's name is the actor of every order. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

export interface TokenCheck {
  /**
   * @param besides tokens that are good for this path alone
   * @throws TokenRefusal without a token that we know, Refusal 403 where its role does not suffice, 429 where it comes too
   * often or has too much open
   */
  require(request: FastifyRequest, permission: Permission, besides?: readonly GatewayToken[]): Promise<Caller>;
}

/** What one token may have open at one time; four times as much for all tokens together. The first that fits counts. */
const OPEN_EACH = [
  {
    what: 'requests that wait for a flow',
    most: 1_000,
    fits: (_method: string, path: string) => path.endsWith('/wait'),
  },
  {
    what: 'lists',
    most: 16,
    fits: (method: string, path: string) => method === 'GET' && /^\/(flows|events|callbacks)$|\/events$/.test(path),
  },
  { what: 'reads', most: 256, fits: (method: string) => method === 'GET' },
  { what: 'orders', most: 256, fits: () => true },
] as const;

/** How often may be asked; an unknown token is counted for its address, so that guessing takes for ever. */
export interface TokenLimits {
  readonly ofToken: RateLimit;
  readonly ofGuesses: RateLimit;
  /** Learns where tokens come from. */
  readonly knownNetworks: Pick<KnownNetworks, 'add'>;
}

/** The limits are for each token's name, and for each address that guesses. */
export function createTokenCheck(
  tokens: Live<readonly GatewayToken[]>,
  { ofToken, ofGuesses, knownNetworks }: TokenLimits,
): TokenCheck {
  /** A handler may ask more than once. */
  const counted = new WeakSet<FastifyRequest>();
  const open = OPEN_EACH.map(({ what, most, fits }) => ({
    fits,
    places: createPlaces({ what, most: most * 4, mostEach: most }),
  }));
  return {
    async require(request, permission, besides = []) {
      const given = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(request.headers.authorization ?? '')?.[1];
      // Every token is compared, so that the time says nothing about which one it was.
      const among = (known: readonly GatewayToken[]) =>
        given === undefined ? undefined : known.filter(({ secret }) => equalSecrets(given, secret))[0];
      const token = among([...tokens(), ...besides]) ?? among(tokens('now'));
      if (token === undefined) {
        ofGuesses.take(networkOf(request.ip));
        throw new TokenRefusal(given === undefined ? 'no-token' : 'unknown-token');
      }
      if (!counted.has(request)) {
        counted.add(request);
        knownNetworks.add(request.ip);
        ofToken.take(token.name);
        const { method } = request;
        const path = request.routeOptions.url ?? '';
        const kind = open.find(({ fits }) => fits(method, path));
        if (kind !== undefined) whenOver(request, kind.places.take(token.name));
      }
      const { role } = PERMISSIONS[permission];
      if (!mayActAs(token.role, role)) {
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
