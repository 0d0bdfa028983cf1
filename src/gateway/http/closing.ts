import type { FastifyInstance } from 'fastify';

/**
 * Aborted when the server begins to close, for handlers that wait. Their answers then end the connection: one that stays
 * alive would keep `close` waiting for its keep-alive timeout.
 */
export function closingSignal(server: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  server.addHook('preClose', async () => closing.abort());
  server.addHook('onSend', (_request, reply, _payload, next) => {
    if (closing.signal.aborted) void reply.header('connection', 'close');
    next();
  });
  return closing.signal;
}
