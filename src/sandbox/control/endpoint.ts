import type { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import type { Core } from '../core.js';
import type { Transport } from '../deliveries/deliver.js';
import type { FaultLog } from '../faults/fault-log.js';
import type { FaultRules } from '../faults/fault-rules.js';
import type { Service } from '../service.js';
import { validate } from '../validate.js';

/** What control endpoints read and steer. */
export interface Controlled extends Core, Pick<Service, 'transactions' | 'carrier' | 'admit' | 'wordFor' | 'deposits'> {
  readonly rules: FaultRules;
  readonly log: FaultLog;
  readonly transport: Transport;
  readonly settlementUrl: () => string;
}

type Params = Readonly<Record<string, string>>;

/** One control endpoint, as data: routes, validation and the list at `GET /_sandbox` derive from it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/_sandbox`. */
  readonly path: string;
  readonly summary: string;
  /** Body of a POST; query of a GET or DELETE. */
  readonly input?: z.ZodType;
  readonly handle: (sandbox: Controlled, input: never, params: Params) => unknown;
}

/** Keeps input schema and handler in step. */
export const endpoint = <S extends z.ZodType>(
  definition: Omit<Endpoint, 'input' | 'handle'> & {
    readonly input?: S;
    readonly handle: (sandbox: Controlled, input: z.output<S>, params: Params) => unknown;
  },
): Endpoint => definition;

export const CONTROL_PREFIX = '/_sandbox';

/** Serves the control endpoints, and a list of them at the root. They have no password: the sandbox is for loopback. */
export function addControlRoutes(server: FastifyInstance, endpoints: readonly Endpoint[], sandbox: Controlled): void {
  const list = endpoints.map(({ method, path, summary }) => ({ method, path: CONTROL_PREFIX + path, summary }));
  server.get(CONTROL_PREFIX, () => ({ endpoints: list }));
  for (const { method, path, input, handle } of endpoints) {
    server.route({
      method,
      url: CONTROL_PREFIX + path.replace(/\{(\w+)\}/g, ':$1'),
      handler: async (request) => {
        const given = method === 'POST' ? (request.body ?? {}) : request.query;
        return (await handle(sandbox, (input && validate(input, given)) as never, request.params as Params)) ?? {};
      },
    });
  }
}
