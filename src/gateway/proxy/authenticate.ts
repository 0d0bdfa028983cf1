import type { FastifyRequest } from 'fastify';
import type { GatewayToken, TokenRole } from '../../config/gateway-tokens.js';
import { isLoopback } from '../../config/loopback.js';
import { DEVELOPMENT_SERVICE_TOKEN } from '../../config/settings.js';
import type { Caller } from '../http/bearer-token.js';
import type { ProxyDeps } from './deps.js';

/** How records name a caller who came with the service's own token. */
const NAME = 'service-token';

type Deps = Pick<ProxyDeps, 'tokens' | 'service' | 'settings'>;

/**
 * A gateway token, or the service token that an existing integration sends already: it may do what the role `flows` may.
 * @throws Refusal 401, 403, 429
 */
export async function authenticate(deps: Deps, request: FastifyRequest, role: TokenRole): Promise<Caller> {
  return deps.tokens.require(request, role, await serviceTokens(deps));
}

async function serviceTokens({ service, settings }: Deps): Promise<readonly GatewayToken[]> {
  const secret = await service.token().catch(() => undefined);
  // The sandbox's token is known to everybody, and opens nothing beyond this machine.
  const isPublic = secret === DEVELOPMENT_SERVICE_TOKEN && !isLoopback(settings.gatewayHost);
  return secret === undefined || secret === '' || isPublic ? [] : [{ name: NAME, role: 'flows', secret }];
}
