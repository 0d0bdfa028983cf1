import type { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import { validate } from '../validate.js';

/** One control endpoint, as data: routes, validation and the list at `GET /_sandbox` derive from it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/_sandbox`. */
  readonly path: string;
  readonly summary: string;
  /** Body of a POST; query of a GET or DELETE. */
  readonly input?: z.ZodType;
  readonly handle: (call: { input: never; params: Readonly<Record<string, string>> }) => unknown;
}

/** Keeps input schema and handler in step. */
export function endpoint<S extends z.ZodType>(definition: {
  method: Endpoint['method'];
  path: string;
  summary: string;
  input?: S;
  handle: (call: { input: z.output<S>; params: Readonly<Record<string, string>> }) => unknown;
}): Endpoint {
  return definition;
}

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
