import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Store } from '../../store/store.js';
import { routeOptions } from '../http/route.js';

export interface HealthDeps {
  readonly store: Pick<Store, 'check'>;
  readonly client: Client;
  readonly monotonicMs: () => number;
}

const WITHIN_MS = 2_000;
/** Anybody may ask, and each look is a durable write and a call: they are for the webhooks. */
const REMEMBERED_MS = 1_000;

const Health = z.object({ status: z.string() });
const Readiness = z.object({ status: z.string(), store: z.string(), temporal: z.string() });

interface Found {
  readonly store: 'ok' | 'unavailable';
  readonly temporal: 'ok' | 'unavailable';
}

/** `/healthz`: the process answers. `/readyz`: it can store events durably, and Temporal can be reached. */
export function addHealthRoutes(server: FastifyInstance, { store, client, monotonicMs }: HealthDeps): void {
  server.route({
    ...routeOptions({
      method: 'GET',
      path: '/healthz',
      operationId: 'health',
      tag: 'operations',
      summary: 'The process answers.',
      role: null,
      answers: { 200: { says: 'It does.', schema: { Health } } },
    }),
    handler: async () => ({ status: 'ok' }),
  });

  async function look(): Promise<Found> {
    const [storeIs, temporalIs] = await Promise.all([
      works(store.check()),
      works(client.connection.withDeadline(Date.now() + WITHIN_MS, () => client.workflowService.getSystemInfo({}))),
    ]);
    return { store: storeIs, temporal: temporalIs };
  }

  /** One look for all who ask while it lasts, and for a second after. */
  let last: { readonly found: Promise<Found>; endedAtMs: number } | undefined;
  const readiness = (): Promise<Found> => {
    if (last !== undefined && monotonicMs() - last.endedAtMs < REMEMBERED_MS) return last.found;
    const asked = { found: look(), endedAtMs: Infinity };
    void asked.found.finally(() => (asked.endedAtMs = monotonicMs()));
    last = asked;
    return asked.found;
  };

  server.route({
    ...routeOptions({
      method: 'GET',
      path: '/readyz',
      operationId: 'readiness',
      tag: 'operations',
      summary: 'Events can be stored durably, and Temporal can be reached.',
      role: null,
      answers: {
        200: { says: 'Both.', schema: { Readiness } },
        503: { says: 'One of them not.', schema: { Readiness } },
      },
    }),
    handler: async (_request, reply) => {
      const found = await readiness();
      const ready = found.store === 'ok' && found.temporal === 'ok';
      return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'unavailable', ...found });
    },
  });
}

function works(check: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  );
}
