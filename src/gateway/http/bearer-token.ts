import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Live } from '../../config/secret-files.js';
import type { GatewayToken } from '../../config/gateway-tokens.js';
import { type Permission, rolesWith } from '../../protocol/permissions.js';
import type { AuditMeans } from '../../protocol/audit.js';
import type { Asker } from '../../temporal/questions.js';
import type { KnownNetworks } from './known-networks.js';
import { type Caller, mayOrder } from './may-order.js';
import type { OidcCheck } from './oidc.js';
import type { Owners } from './owners.js';
import { createPlaces, whenOver } from './places.js';
import { networkOf, type RateLimit, UNPROVEN } from './rate-limit.js';
import { Refusal, TokenRefusal } from './refusal.js';

export type { Caller };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it: of a route with a permission, once its token was checked. */
    caller: Caller;
  }
  interface FastifyInstance {
    owners: Owners;
  }
  interface FastifyContextConfig {
    /** The permission of the caller. Absent or null: it needs no token. */
    permission?: Permission | null;
    /** Who else may call it. */
    callers?: OtherCallers;
  }
}

/** Who gives an order asks workers in the places that are kept for orders. */
export const asOrder = ({ name }: Pick<Caller, 'name'>): Asker => ({ name, isOrder: true });

/** The name in the audit log. */
export const whoIs = ({ name, role, means }: Caller) => ({ actor: name, role, means });

/** Callers of one route, besides those with a token that is good for every route. */
export interface OtherCallers {
  /** Tokens that are good for this route alone. */
  readonly tokens?: () => Promise<readonly GatewayToken[]>;
  /**
   * For the Temporal UI: it sends its id token beside its access token, in `Authorization-Extras`. Either one suffices,
   * for any audience.
   */
  readonly isToDecode?: boolean;
  /** Who needs no token. It is not limited. */
  readonly withoutToken?: (request: FastifyRequest) => Caller | undefined;
}

/** A token of an issuer may list the groups of its bearer. */
const BEARER = /^Bearer ([\x21-\x7e]{1,16384})$/i;

/** One that waits holds a connection and 12 kB: 37 MB if readers have taken all of theirs. */
const PLACES = { what: 'requests', most: 4_096 };
/** For one token: readers leave the rest of it to orders. */
const OF_TOKEN = { orders: 1_024, reads: 768 };
/** One token may have 16 of them open, if it reads nothing else. */
const UNITS_OF_LIST = 48;

export interface AuthDeps {
  /** How fast known callers come, by name. */
  readonly ofKnown: RateLimit;
  /** An unknown token is counted for its address, so that guessing takes for ever. */
  readonly ofUnknown: RateLimit;
  /** Records the addresses that send valid tokens. */
  readonly knownNetworks: Pick<KnownNetworks, 'add' | 'has'>;
  readonly tokens: Live<readonly GatewayToken[]>;
  /** Tokens of an OIDC issuer. Undefined: none are accepted. */
  readonly oidc?: OidcCheck | undefined;
  /** Whose flows are whose. */
  readonly owners: Owners;
  /** Called for each request whose role does not suffice. */
  readonly refused?: (caller: Caller, permission: Permission, request: FastifyRequest) => void;
}

/**
 * Decides who asks, on every route whose `config` has a permission, before its body is read.
 *
 * @throws TokenRefusal without a token that we know, Refusal 403 if its role does not allow it, 429 if it comes too often
 * or has too much open. The limits are for each caller's name, and for each address that guesses
 */
export const auth = fp(async (server: FastifyInstance, deps: AuthDeps) => {
  const { tokens, oidc, ofKnown, ofUnknown, knownNetworks, owners, refused } = deps;
  const places = createPlaces(PLACES);

  function count(request: FastifyRequest, name: string): void {
    knownNetworks.add(request.ip);
    ofKnown.take(name);
    const { url, config } = request.routeOptions;
    // Readers of flows must not be able to blind the monitoring.
    const isRead = request.method === 'GET' && url !== '/metrics';
    const units = config.isList === true ? UNITS_OF_LIST : 1;
    const share = isRead ? OF_TOKEN.reads : OF_TOKEN.orders;
    whenOver(request, places.take({ [name]: share }, { units, leavesRoom: isRead }).free);
  }

  function ofGateway(given: string, known: readonly GatewayToken[], besides: readonly GatewayToken[] = []) {
    // Every token is compared, so that the time does not show which one it was.
    const token = [...known, ...besides].filter(({ secret }) => equalSecrets(given, secret))[0];
    if (token === undefined) return undefined;
    const means: AuditMeans = besides.includes(token) ? 'service-token' : 'token';
    return { name: token.name, role: token.role, means };
  }

  /** Of one that the issuer signed. @throws TokenRefusal, Refusal 403, 503 */
  async function ofIssuer(given: string, isToDecode: boolean): Promise<Caller | undefined> {
    if (oidc?.isToken(given) !== true) return undefined;
    const { name, role } = await oidc.verify(given, isToDecode);
    if (role === undefined) {
      const why = `The token of ${name} names no role of this gateway: see OIDC_ROLE_CLAIM and OIDC_ROLES.`;
      throw new Refusal(403, why, { code: 'no_role' });
    }
    return { name, role, means: 'oidc' };
  }

  /**
   * By a token of the issuer, which is charged to its address only if it is judged wrong: so a good one is held back by no
   * other. Anything else is charged beforehand, and given back if it is a token of a file that changed a moment ago.
   */
  async function identify(request: FastifyRequest, given: string | undefined, isToDecode: boolean): Promise<Caller> {
    const extras = isToDecode ? String(request.headers['authorization-extras'] ?? '') : '';
    let why: Refusal = new TokenRefusal(given === undefined ? 'no_token' : 'unknown_token');
    // An access token may be for another audience, or readable only by its issuer.
    for (const token of [given ?? '', extras]) {
      try {
        const caller = await ofIssuer(token, isToDecode);
        if (caller !== undefined) return caller;
      } catch (error) {
        if (!(error instanceof Refusal) || error.status >= 500) throw error;
        why = error;
      }
    }
    // From an address of which a token was taken others may guess, too: it has ten times as many guesses.
    const [what, units] = knownNetworks.has(request.ip) ? ['guesses beside', 1] : ['guesses', UNPROVEN];
    const giveBack = ofUnknown.take(`${what} ${networkOf(request.ip)}`, units);
    const caller = given === undefined ? undefined : ofGateway(given, tokens('now'));
    if (caller === undefined) throw why;
    giveBack();
    return caller;
  }

  server.decorate('owners', owners);
  server.decorateRequest('caller');
  server.addHook('onRequest', async (request) => {
    const { permission = null, callers = {} } = request.routeOptions.config;
    if (permission === null) return;
    const tokenless = callers.withoutToken?.(request);
    if (tokenless !== undefined) {
      request.caller = tokenless;
      return;
    }
    const given = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const besides = await callers.tokens?.();
    const caller =
      (given === undefined ? undefined : ofGateway(given, tokens(), besides)) ??
      (await identify(request, given, callers.isToDecode === true));
    count(request, caller.name);
    request.caller = caller;
    if (mayOrder({ caller, permission }) === 'yes') return;
    refused?.(caller, permission, request);
    const role = rolesWith(permission).join(' or ');
    const why = `This needs a token of the role ${role}; ${caller.name} has the role ${caller.role}.`;
    throw new Refusal(403, why, { code: 'no_permission' });
  });
});

/** Compares in constant time; `timingSafeEqual` itself throws if the lengths differ, which are no secret. */
export function equalSecrets(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}
