import type { FastifyInstance } from 'fastify';
import { validate } from '../validate.js';
import type { Endpoint } from './endpoint.js';

export const CONTROL_PREFIX = '/_sandbox';

/** Serves the control endpoints, and a list of them at the root. They have no password: the sandbox is for loopback. */
export function addControlRoutes(server: FastifyInstance, endpoints: readonly Endpoint[]): void {
  const list = endpoints.map(({ method, path, summary }) => ({ method, path: CONTROL_PREFIX + path, summary }));
  server.get(CONTROL_PREFIX, () => ({ endpoints: list }));
  for (const { method, path, input, handle } of endpoints) {
    server.route({
      method,
      url: CONTROL_PREFIX + path.replace(/\{(\w+)\}/g, ':$1'),
      handler: async (request) => {
        const given = method === 'POST' ? (request.body ?? {}) : request.query;
        const call = { input: input && validate(input, given), params: request.params } as never;
        return (await handle(call)) ?? {};
      },
    });
  }
}
