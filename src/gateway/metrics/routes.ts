import type { FastifyInstance } from 'fastify';
import type { TokenCheck } from '../http/bearer-token.js';
import type { Metrics } from './metrics.js';

/** `GET /metrics`, for Prometheus; with a token, since it tells how much money is on its way. */
export function addMetricsRoute(
  server: FastifyInstance,
  deps: { readonly metrics: Metrics; readonly tokens: TokenCheck },
) {
  server.get('/metrics', async (request, reply) => {
    deps.tokens.require(request, 'flows');
    const { type, text } = await deps.metrics.print();
    return reply.header('content-type', type).send(text);
  });
}

/** Every answer of the server is counted, by the pattern of its route. */
export function countRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', (request, reply, next) => {
    const route = request.routeOptions.url ?? '(unknown)';
    metrics.answered({ method: request.method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1_000 });
    next();
  });
}
