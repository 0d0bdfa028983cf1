import type { FastifyRequest } from 'fastify';
import type { TokenRole } from '../../config/gateway-tokens.js';
import { isLoopback } from '../../config/loopback.js';
import { DEVELOPMENT_SERVICE_TOKEN } from '../../config/settings.js';
import type { Caller } from '../http/bearer-token.js';
import { equalSecrets } from '../http/equal-secrets.js';
import { Refusal } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';

/** How records name a caller who came with the service's own token. */
const NAME = 'service-token';

/**
 * A gateway token, or the service token that an existing integration sends already: it may do what the role `flows` may.
 * @throws Refusal 401, 403
 */
export async function authenticate(
  { tokens, service, settings }: Pick<ProxyDeps, 'tokens' | 'service' | 'settings'>,
  request: FastifyRequest,
  role: TokenRole,
): Promise<Caller> {
  try {
    return tokens.require(request, role);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) throw error;
    const given = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(request.headers.authorization ?? '')?.[1];
    const expected = await service.token().catch(() => undefined);
    const isKnown = given !== undefined && expected !== undefined && equalSecrets(given, expected);
    // The sandbox's token is known to everybody, and opens nothing beyond this machine.
    const isPublic = expected === DEVELOPMENT_SERVICE_TOKEN && !isLoopback(settings.gatewayHost);
    if (!isKnown || isPublic) throw error;
    if (role !== 'flows') {
      throw new Refusal(403, `This needs a gateway token of the role ${role}; the service token is not enough.`);
    }
    return { name: NAME, role: 'flows' };
  }
}
