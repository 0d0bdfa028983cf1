import type { FastifyInstance } from 'fastify';
import { cards } from './cards/take-card.js';
import { consolePages } from './console/routes.js';
import { dispatch } from './dispatch/plugin.js';
import { createFlowWatch } from './flows/flow-watch.js';
import { createRoleRefusals } from './flows/give-order.js';
import { flows } from './flows/routes.js';
import { auth } from './http/bearer-token.js';
import { createOidcCheck } from './http/oidc.js';
import { createRateLimit } from './http/rate-limit.js';
import {
  type AddedRoute,
  closeServer,
  closingSignal,
  createServer,
  listen,
  listRoutes,
  PUBLIC_REQUEST_LIMITS,
  type RequestLimits,
} from './http/server.js';
import { inboundUrls } from './inbound/capabilities.js';
import { inbound } from './inbound/plugin.js';
import { codec } from './ops/codec.js';
import { createReadiness, health } from './ops/health.js';
import { countRequests } from './ops/metrics.js';
import { ops } from './ops/plugin.js';
import { createParts, type GatewayOptions } from './parts.js';
import { proxy } from './proxy/routes.js';
import { reference } from './reference/routes.js';

export interface Gateway {
  /** Its URL: of the inside listener. */
  readonly url: string;
  /** Of the listener for webhooks and callbacks: the same unless INBOUND_PORT is set. */
  readonly publicUrl: string;
  /** URLs for the settlement provider and for the service: they contain capabilities. */
  readonly inbound: { readonly settlement?: string; readonly webhook: string };
  /** Every path that it answers, with `:parameters`. */
  readonly routes: readonly AddedRoute[];
  /** Accepts nothing new, finishes what is in flight. Events in the inbox stay there for the next start. */
  close(): Promise<void>;
}

/**
 * Starts the gateway: the service's own interface, webhooks and callbacks, flow operations, codec server, health.
 * Its rooms are plugins. They start in the order in which they are registered here, and close in the opposite one, when no
 * request is in flight any more.
 *
 * @throws GatewayPortTakenError
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const parts = await createParts(options);
  const { settings, client, logger, monotonicMs, secrets, metrics } = parts;
  const { gatewayHost, gatewayPort, inboundHost, inboundPort, serviceTimeoutMs } = settings;
  const addServer = (limits?: RequestLimits) =>
    createServer(logger, { ...settings, knownNetworks: parts.knownNetworks }, options.requestLimits ?? limits);
  // Who may post events cannot reach what callers use, and the other way round.
  const server = addServer();
  const publicServer = inboundPort === undefined ? server : addServer(PUBLIC_REQUEST_LIMITS);
  const servers = [...new Set([server, publicServer])];
  const listed = servers.map((one) => listRoutes(one));
  const routes = () => uniqueRoutes(listed.flat());
  for (const one of servers) countRequests(one, metrics);
  const closing = closingSignal(server);

  // Before auth: the page of the UI may read why its token is refused.
  await server.register(codec, { ...parts, codec: options.codec, uiOrigin: options.uiOrigin });
  await server.register(auth, {
    ...parts,
    tokens: secrets.gatewayTokens,
    oidc: settings.oidc && createOidcCheck(settings.oidc, monotonicMs),
    ofKnown: createRateLimit(settings.gatewayRateLimit, monotonicMs),
    refused: createRoleRefusals(parts),
  });
  await server.register(dispatch, parts);
  await publicServer.register(inbound, { ...parts, receive: server.receive, newEventId: options.newEventId });
  await server.register(cards, { ...parts, serve: options.serveCards });
  const deps = {
    ...parts,
    dispatcher: server.dispatcher,
    settler: server.settler,
    cards: server.cards,
    lookUp: options.service?.lookUp,
    watch: createFlowWatch(parts.reader, closing),
    closing,
  };
  await server.register(flows, deps);
  await server.register(ops, deps);
  if (options.service !== undefined) await server.register(proxy, { ...deps, service: options.service });
  const readiness = createReadiness(parts);
  for (const one of servers) await one.register(health, readiness);
  await server.register(reference, { ...settings, routes });
  await server.register(consolePages, {
    uiUrl: settings.temporal['TEMPORAL_UI_URL'],
    namespace: client.options.namespace,
  });
  if (publicServer !== server) closeWith(server, publicServer, serviceTimeoutMs);

  try {
    const url = await listen(server, { host: gatewayHost, port: gatewayPort, setting: 'GATEWAY_PORT' });
    return {
      url,
      publicUrl:
        inboundPort === undefined
          ? url
          : await listen(publicServer, { host: inboundHost, port: inboundPort, setting: 'INBOUND_PORT' }),
      inbound: inboundUrls(settings.publicUrl, parts.capabilities),
      routes: routes(),
      close: () => closeServer(server, serviceTimeoutMs),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Both listeners answer probes. */
const uniqueRoutes = (routes: readonly AddedRoute[]): readonly AddedRoute[] => [
  ...new Map(routes.map((route) => [`${route.method} ${route.url}`, route])).values(),
];

/** Both listeners take nothing new at the same moment. Called last: the loops stop when neither has a request in flight. */
function closeWith(server: FastifyInstance, publicServer: FastifyInstance, serviceTimeoutMs: number): void {
  let closed: Promise<void> | undefined;
  server.addHook('preClose', async () => {
    closed = closeServer(publicServer, serviceTimeoutMs);
  });
  server.addHook('onClose', async () => closed);
}
