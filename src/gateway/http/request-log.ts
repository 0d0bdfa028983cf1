import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** One line for each request: the route's pattern and not its path, which may hold a capability or a reference. */
export function logRequests(server: FastifyInstance, logger: Logger): void {
  server.addHook('onResponse', (request, reply, next) => {
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? '(unknown)',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (reply.statusCode >= 500) logger.warn(line, 'answered');
    else logger.debug(line, 'answered');
    next();
  });
}
