import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Store } from '../../store/store.js';

export interface HealthDeps {
  readonly store: Pick<Store, 'check'>;
  readonly client: Client;
  readonly monotonicMs: () => number;
}

const WITHIN_MS = 2_000;
/** Anybody may ask, and each look is a durable write and a call: they are for the webhooks. */
const REMEMBERED_MS = 1_000;

interface Readiness {
  readonly store: 'ok' | 'unavailable';
  readonly temporal: 'ok' | 'unavailable';
}

/** `/healthz`: the process answers. `/readyz`: it can store events durably, and Temporal can be reached. */
export function addHealthRoutes(server: FastifyInstance, { store, client, monotonicMs }: HealthDeps): void {
  server.get('/healthz', async () => ({ status: 'ok' }));

  async function look(): Promise<Readiness> {
    const [storeIs, temporalIs] = await Promise.all([
      works(store.check()),
      works(client.connection.withDeadline(Date.now() + WITHIN_MS, () => client.workflowService.getSystemInfo({}))),
    ]);
    return { store: storeIs, temporal: temporalIs };
  }

  /** One look for all who ask while it lasts, and for a second after. */
  let last: { readonly found: Promise<Readiness>; endedAtMs: number } | undefined;
  const readiness = (): Promise<Readiness> => {
    if (last !== undefined && monotonicMs() - last.endedAtMs < REMEMBERED_MS) return last.found;
    const asked = { found: look(), endedAtMs: Infinity };
    void asked.found.finally(() => (asked.endedAtMs = monotonicMs()));
    last = asked;
    return asked.found;
  };

  server.get('/readyz', async (_request, reply) => {
    const found = await readiness();
    const ready = found.store === 'ok' && found.temporal === 'ok';
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'unavailable', ...found });
  });
}

function works(check: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  );
}
