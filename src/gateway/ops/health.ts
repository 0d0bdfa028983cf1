import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Store } from '../../store/store.js';
import { routeOptions } from '../http/route.js';
import { remembered } from './remembered.js';
import { callWithin } from '../../temporal/call-within.js';
import { GRPC, grpcStatusOf, isNoNamespace } from '../../temporal/connection.js';

export interface HealthDeps {
  readonly store: Pick<Store, 'check'>;
  readonly client: Client;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

/** The checks behind the probes of all listeners. */
export interface Readiness {
  readonly storeWorks: () => Promise<Works>;
  readonly temporalWorks: () => Promise<Works>;
}

const WITHIN_MS = 2_000;

const Health = z.object({ status: z.string() });
const Intake = z.object({ status: z.string(), store: z.string() });
const Readiness = Intake.extend({ temporal: z.string() });

type Works = 'ok' | 'unavailable';

/**
 * Anyone may ask, at any rate: each check, which is a durable write or a call, is made once for all who ask, and the log has
 * what changes.
 */
export function createReadiness({ store, client, monotonicMs, logger }: HealthDeps): Readiness {
  const followed = (what: 'store' | 'temporal', check: () => Promise<unknown>) => {
    let last: Works = 'ok';
    return remembered(monotonicMs, async () => {
      const found = await works(check());
      if (found !== last) logger[found === 'ok' ? 'info' : 'warn']({ [what]: found }, 'the readiness changed');
      last = found;
      return found;
    });
  };
  return {
    storeWorks: followed('store', () => soon(store.check())),
    temporalWorks: followed('temporal', () => answers(client)),
  };
}

/**
 * `/healthz`: the process answers. `/readyz/intake`: it can store events durably, which needs no Temporal: a load
 * balancer should use this one. `/readyz/orders`, and `/readyz`: Temporal can also take a start.
 */
export async function health(server: FastifyInstance, { storeWorks, temporalWorks }: Readiness): Promise<void> {
  server.route({
    ...routeOptions({
      method: 'GET',
      path: '/healthz',
      operationId: 'health',
      tag: 'operations',
      summary: 'The process answers.',
      permission: null,
      answers: { 200: { says: 'It does.', schema: { Health } } },
    }),
    handler: async () => ({ status: 'ok' }),
  });

  server.route({
    ...probeOptions({
      method: 'GET',
      path: '/readyz/intake',
      operationId: 'intakeReadiness',
      tag: 'operations',
      summary: 'Events can be stored durably, whether or not Temporal can be reached.',
      permission: null,
      answers: {
        200: { says: 'They can.', schema: { Intake } },
        503: { says: 'They cannot.', schema: { Intake } },
      },
    }),
    handler: async (_request, reply) => {
      const found = await storeWorks();
      return reply.code(found === 'ok' ? 200 : 503).send({ status: found, store: found });
    },
  });

  const READY = [
    ['/readyz', 'readiness', 'Events can be stored durably, and Temporal works.'],
    [
      '/readyz/orders',
      'orderReadiness',
      'Flows can be started and ordered: the store works, and Temporal with its database.',
    ],
  ] as const;
  for (const [path, operationId, summary] of READY) {
    server.route({
      ...probeOptions({
        method: 'GET',
        path,
        operationId,
        tag: 'operations',
        summary,
        permission: null,
        answers: {
          200: { says: 'Both.', schema: { Readiness } },
          503: { says: 'One of them not.', schema: { Readiness } },
        },
      }),
      handler: async (_request, reply) => {
        const [storeIs, temporalIs] = await Promise.all([storeWorks(), temporalWorks()]);
        const status = storeIs === 'ok' && temporalIs === 'ok' ? 'ok' : 'unavailable';
        return reply.code(status === 'ok' ? 200 : 503).send({ status, store: storeIs, temporal: temporalIs });
      },
    });
  }
}

function probeOptions(route: Parameters<typeof routeOptions>[0]) {
  const options = routeOptions(route);
  return { ...options, config: { ...options.config, isProbe: true } };
}

/** No workflow has this id: so no server answers from memory, and each reads its database, as it does for a start. */
const NO_WORKFLOW = { workflowId: 'towline-readiness' };

/** Rejects if Temporal cannot be reached, has no such namespace, or cannot use its database. */
export async function answers(client: Client): Promise<void> {
  const { namespace } = client.options;
  try {
    await callWithin(client, WITHIN_MS, () =>
      client.workflowService.describeWorkflowExecution({ namespace, execution: NO_WORKFLOW }),
    );
  } catch (error) {
    if (grpcStatusOf(error) !== GRPC.notFound || isNoNamespace(error)) throw error;
  }
}

/** A store that is locked makes a check wait for longer than any probe does. */
function soon(check: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), WITHIN_MS);
  });
  return Promise.race([check, late]).finally(() => clearTimeout(timer));
}

export function works(check: Promise<unknown>): Promise<Works> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  );
}
