import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { context, propagation } from '@opentelemetry/api';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Clock, every, systemClock } from '../../clock.js';
import { isLoopback } from '../../protocol/loopback.js';
import { withoutCapabilities } from '../../protocol/capabilities.js';
import { answerNotFound, answerOtherMethods, createErrorHandler, errorBody, errorForLog, Refusal } from './refusal.js';
import { type ConnectionLimits, cutUnreadAnswers, KEEP_ALIVE_MS, limitSockets } from './connections.js';
import { flowAddress } from './flow-path.js';
import { followRequests } from './places.js';
import { headerValues, takeJsonBodies } from './json-body.js';
import type { Reference } from './openapi.js';
import type { Permission } from '../../protocol/permissions.js';

const BODY_LIMIT_BYTES = 64 * 1_024;
const HEADER_LIMIT_BYTES = 8 * 1_024;
/** Tokens of an issuer may list the groups of their bearer, and the Temporal UI sends two of them. */
const HEADER_LIMIT_WITH_OIDC_BYTES = 24 * 1_024;
/** Time limits of a sender: for a request, counted from the connection, and for reading its answer. */
export interface RequestLimits {
  readonly headersWithinMs: number;
  readonly requestWithinMs: number;
  readonly answerWithinMs: number;
}
export const REQUEST_LIMITS: RequestLimits = {
  headersWithinMs: 5_000,
  requestWithinMs: 10_000,
  answerWithinMs: 30_000,
};
/** An event is short, and its sender a server: a body of 64 KiB comes at 13 KiB a second at least. */
export const PUBLIC_REQUEST_LIMITS: RequestLimits = {
  headersWithinMs: 2_500,
  requestWithinMs: 5_000,
  answerWithinMs: 10_000,
};
/** At shutdown. A request that is still being received ends by then; long polls are answered at once. */
const CUT_AFTER_MS = REQUEST_LIMITS.requestWithinMs + 2_000;
const PASSING_ON_MS = 5_000;
const LOOK_EVERY_MS = 250;
/** Longest reference, and room for a capability. Longer parts of a path are unknown paths. */
const MAX_PATH_PART = 256;

/** Of every answer that does not set others: only the pages of the API reference do. */
const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};
/** Listed once, and not for each answer. */
const SAFE_HEADER_LIST = Object.entries(SAFE_HEADERS);

/** A fastify instance with everything that all paths share: limits, timeouts, strict JSON, one error body, one log line. */
export function createServer(
  logger: Logger,
  limits: ConnectionLimits & { readonly oidc?: object | undefined; readonly development?: boolean } = {
    maxConnections: Infinity,
  },
  { headersWithinMs, requestWithinMs, answerWithinMs }: RequestLimits = REQUEST_LIMITS,
): FastifyInstance {
  const { trustedProxies } = limits;
  const server = fastify({
    // Proxies whose `X-Forwarded-For` gives the address of a request. Any other sender's header is ignored.
    trustProxy: trustedProxies === undefined ? false : (address: string) => trustedProxies.includes(address),
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    // Fastify's own HEAD routes would run the whole GET, and count as an order.
    exposeHeadRoutes: false,
    requestTimeout: requestWithinMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // Fastify would take a request id from the caller; ours end up in logs.
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: MAX_PATH_PART },
    http: {
      headersTimeout: headersWithinMs,
      requestTimeout: requestWithinMs,
      // Often, so that few end in one turn of the event loop: a flood of connections is cut a few at a time.
      connectionsCheckingInterval: 100,
      maxHeaderSize: limits.oidc === undefined ? HEADER_LIMIT_BYTES : HEADER_LIMIT_WITH_OIDC_BYTES,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, logger),
    // A path that cannot be decoded, or is longer than any of ours.
    frameworkErrors: (_error, request, reply) => void answerNotFound(request as FastifyRequest, reply as FastifyReply),
  });
  followRequests(server);
  limitSockets(server.server, limits);
  refuseRepeatedHeaders(server);
  if (limits.development === true) refuseOtherHosts(server);
  takeJsonBodies(server);
  logRequests(server, logger);
  // The caller's trace, to which the flow's own is linked. Not in an earlier hook: reading the body loses the context.
  server.addHook('preHandler', (request, _reply, next) => {
    context.with(propagation.extract(context.active(), request.headers), next);
  });
  server.addHook('onSend', (request, _reply, payload, next) =>
    // Our files are large.
    next(null, request.routeOptions.config?.isOurFile === true ? payload : shown(payload)),
  );
  server.addHook('onSend', (request, reply, _payload, next) => {
    if (!reply.hasHeader('x-request-id')) void reply.header('x-request-id', request.id);
    for (const [name, value] of SAFE_HEADER_LIST) if (!reply.hasHeader(name)) void reply.header(name, value);
    next();
  });
  cutUnreadAnswers(server, answerWithinMs);
  server.setNotFoundHandler(answerNotFound);
  server.setErrorHandler(createErrorHandler(logger));
  return server;
}

const ONCE = ['host', 'authorization', 'authorization-extras', 'content-type'];

/** RFC 9112, 3.2: a proxy before us may have looked at the other one. Node takes the first. */
function refuseRepeatedHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, next) => {
    const repeated = ONCE.find((name) => headerValues(request.raw.rawHeaders, name).length > 1);
    next(repeated === undefined ? undefined : new Refusal(400, `Send one ${repeated} header.`));
  });
}

/** With the names by which containers call this machine. Any other one below `internal` may be that of a server of the network. */
const OWN_NAME = /^((.+\.)?localhost|(host|gateway)\.docker\.internal|host\.containers\.internal)$/i;

/**
 * In development the gateway is on this machine and its token is known to everyone. A web page whose name is made to
 * resolve to this machine (DNS rebinding) could call it with that token, and its requests have that name as `Host`.
 */
function refuseOtherHosts(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, next) => {
    // Not `request.host`: behind a trusted proxy that is a header which a page may set.
    const name = (request.headers.host ?? 'localhost').replace(/:\d*$/, '');
    next(isLoopback(name) || OWN_NAME.test(name) ? undefined : new Refusal(421, FOR_THIS_MACHINE));
  });
}

const FOR_THIS_MACHINE =
  'In development the gateway only answers requests to a name of this machine, such as 127.0.0.1 or localhost: any other ' +
  'one may belong to a web page. Use such a name, or set DEVELOPMENT=false, with GATEWAY_TOKENS and PAYLOAD_KEYS.';

/** The service repeats what it was sent, and people paste it into notes: no answer shows a capability. */
function shown(payload: unknown): unknown {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
  const text = payload.toString('utf8');
  const without = withoutCapabilities(text);
  return without === text ? payload : without;
}

/**
 * Takes nothing new, and lets requests in flight finish. A connection that never sent a request counts as busy to Node,
 * which would wait for it as long as its client likes: it is cut after the time that a request may take, if no handler
 * runs any more. A request that is passed on to the service, for example for an API key, may take as long as the
 * service.
 *
 * @param serviceTimeoutMs how long the service may take; shortly after that even such requests are cut
 */
export async function closeServer(
  server: FastifyInstance,
  serviceTimeoutMs: number,
  clock: Clock = systemClock,
): Promise<void> {
  const startedMs = clock.monotonicMs();
  const stop = every(clock, LOOK_EVERY_MS, () => {
    const tookMs = clock.monotonicMs() - startedMs;
    const isOver = tookMs >= CUT_AFTER_MS && (server.handling.size === 0 || tookMs >= serviceTimeoutMs + PASSING_ON_MS);
    if (isOver) server.server.closeAllConnections();
  });
  try {
    await server.close();
  } finally {
    stop();
  }
}

/** Input that Node could not read as HTTP: answered on the bare socket, since there is no request. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const requestId = randomUUID();
  logger.debug({ requestId, status, error: errorForLog(error) }, 'a request could not be read');
  const body = JSON.stringify(errorBody(status));
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    'x-request-id': requestId,
    ...SAFE_HEADERS,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Aborted when the server begins to close, for handlers that wait. Their answers then end the connection: a kept-alive
 * one would delay `close` by its keep-alive timeout.
 */
export function closingSignal(server: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  // One for each request that waits.
  setMaxListeners(0, closing.signal);
  server.addHook('preClose', async () => closing.abort());
  server.addHook('onSend', (_request, reply, _payload, next) => {
    if (closing.signal.aborted) void reply.header('connection', 'close');
    next();
  });
  return closing.signal;
}

/** One line per request: the route's pattern, not the path, which may hold a capability; and the flow of path or body. */
function logRequests(server: FastifyInstance, logger: Logger): void {
  server.addHook('onResponse', (request, reply, next) => {
    const { kind, reference } = (request.params ?? {}) as Readonly<Record<string, unknown>>;
    const flowId = request.flowId ?? flowAddress(kind, reference)?.flowId;
    const line = {
      requestId: request.id,
      ...(flowId === undefined ? {} : { flowId }),
      method: request.method,
      route: request.routeOptions.url ?? '(unknown)',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (reply.statusCode >= 500 && request.routeOptions.config?.isProbe !== true) logger.warn(line, 'answered');
    else logger.debug(line, 'answered');
    next();
  });
}

export interface AddedRoute {
  readonly method: string;
  /** With `:parameters`. */
  readonly url: string;
  readonly reference: (() => Reference) | undefined;
  readonly permission: Permission | null;
}

/**
 * Fills with every route that is added from now on, except those for OPTIONS. A path without a route is not found; one
 * with routes only of other methods names those. A server with a route that needs a permission does not start without
 * the plugin that asks for it.
 */
export function listRoutes(server: FastifyInstance): readonly AddedRoute[] {
  const routes: AddedRoute[] = [];
  // Before its body is read.
  server.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next();
    const parts = (request.url.split('?')[0] ?? '').split('/');
    const allowed = routes.filter(({ url }) => isOfPattern(parts, url)).map(({ method }) => method);
    if (allowed.length === 0) answerNotFound(request, reply);
    else answerOtherMethods(request, reply, [...new Set(allowed)]);
  });
  server.addHook('onRoute', ({ method, url, config }) => {
    if (method === 'OPTIONS') return;
    // Each of ours is of one method.
    routes.push({ method: String(method), url, reference: config?.reference, permission: config?.permission ?? null });
  });
  server.addHook('onReady', async () => {
    const closed = routes.find(({ permission }) => permission !== null);
    if (closed === undefined || server.hasRequestDecorator('caller')) return;
    throw new Error(`${closed.url} needs a permission, and nothing here asks for one: register auth`);
  });
  return routes;
}

/** Whether a path is one of a route's pattern, such as `/flows/:kind`. */
function isOfPattern(parts: readonly string[], pattern: string): boolean {
  const wanted = pattern.split('/');
  return parts.length === wanted.length && wanted.every((part, at) => part.startsWith(':') || part === parts[at]);
}

/**
 * Connections that wait to be accepted; the kernel takes as many as its own `somaxconn` allows. With Node's 511, a flood of
 * connections made the kernel drop everybody's, and who dialled again waited for one or three seconds.
 */
const BACKLOG = 4_096;

type PortSetting = 'GATEWAY_PORT' | 'INBOUND_PORT';

/** @param address.setting of the port @returns its URL @throws GatewayPortTakenError: what listens already is the caller's */
export async function listen(
  server: FastifyInstance,
  { host, port, setting }: { readonly host: string; readonly port: number; readonly setting: PortSetting },
): Promise<string> {
  try {
    return await server.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new GatewayPortTakenError(port, host, setting);
    throw error;
  }
}

/** The gateway's port belongs to another program (or to another gateway). */
export class GatewayPortTakenError extends Error {
  override readonly name = 'GatewayPortTakenError';
  readonly port: number;

  constructor(port: number, host: string, setting: PortSetting = 'GATEWAY_PORT') {
    super(`Port ${port} on ${host} is taken: stop what listens there, or set ${setting} to another port.`);
    this.port = port;
  }
}
