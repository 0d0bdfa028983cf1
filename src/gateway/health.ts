import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Store } from '../store/store.js';

export interface HealthDeps {
  readonly store: Pick<Store, 'check'>;
  readonly client: Client;
}

const WITHIN_MS = 2_000;

/** `/healthz`: the process answers. `/readyz`: it can store events durably, and Temporal can be reached. */
export function addHealthRoutes(server: FastifyInstance, { store, client }: HealthDeps): void {
  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_request, reply) => {
    const [storeIs, temporalIs] = await Promise.all([
      works(store.check()),
      works(client.connection.withDeadline(Date.now() + WITHIN_MS, () => client.workflowService.getSystemInfo({}))),
    ]);
    const ready = storeIs === 'ok' && temporalIs === 'ok';
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', store: storeIs, temporal: temporalIs });
  });
}

function works(check: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  );
}
