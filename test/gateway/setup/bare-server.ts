import { pino } from 'pino';
import { auth } from '../../../src/gateway/http/bearer-token.js';
import { createKnownNetworks } from '../../../src/gateway/http/known-networks.js';
import { createOwners } from '../../../src/gateway/http/owners.js';
import { createRateLimit } from '../../../src/gateway/http/rate-limit.js';
import { createServer } from '../../../src/gateway/http/server.js';
import type { Role } from '../../../src/protocol/permissions.js';

/** A server with these tokens, and without routes. */
export function bareServer(role: Role, ...names: readonly string[]) {
  const server = createServer(pino({ level: 'silent' }));
  const limit = createRateLimit(0);
  void server.register(auth, {
    tokens: () => names.map((name) => ({ name, role, secret: `secret-of-${name}` })),
    ofKnown: limit,
    ofUnknown: limit,
    knownNetworks: createKnownNetworks(),
    owners: createOwners({ ownersOf: () => Promise.resolve(new Map()) }),
  });
  const listen = () => server.listen({ host: '127.0.0.1', port: 0 });
  return { server, listen, headersOf: (name: string) => ({ authorization: `Bearer secret-of-${name}` }) };
}
