import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ContradictionList, Flow, FlowParams } from '../../api/flow.js';
import { limit } from '../../api/json.js';
import { AcknowledgeBody } from '../../api/orders.js';
import { whoIs } from '../http/bearer-token.js';
import { addressOf } from '../http/flow-path.js';
import { readCharged } from './charged-pages.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { shownFlow } from './address.js';
import { contradictedJson, contradictionsJson } from './contradicted-json.js';
import type { FlowOperationDeps } from './deps.js';
import { flowJson } from './flow-json.js';

const ListQuery = z.strictObject({
  state: z.enum(['open', 'all']).default('open').meta({ description: '`open`: those that wait for a person.' }),
  limit: limit(100),
  after: z.string().max(200).optional().meta({ description: '`next` of the page before.' }),
});

/** Flows that something contradicts, and the order of a person who has seen to it. */
export function addContradictionRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  const { store, owners, logger, takePage } = deps;
  addRoute(server, {
    method: 'GET',
    path: '/contradictions',
    operationId: 'listContradictions',
    tag: 'flows',
    permission: 'view',
    summary: 'Lists flows that ended, and of which a proven event or an answer says otherwise.',
    query: ListQuery,
    answers: { 200: { says: 'Flows, the latest contradiction first.', schema: { Contradictions: ContradictionList } } },
    handler: async ({ caller, query: { state, limit, after } }) => {
      const begunBy = owners.isForAll(caller, 'view') ? undefined : caller.name;
      const flowIds = await readCharged(takePage, caller.name, limit, () =>
        store.matters.contradictedFlows(state, { limit, after, begunBy }),
      );
      const page = flowIds.map((flowId) => ({ flowId }));
      const theirs = (await owners.theirs(caller, 'view', page)).map(({ flowId }) => flowId);
      const found = await contradictionsJson(store, theirs);
      return {
        flows: theirs.flatMap((flowId) => {
          const shown = found.get(flowId);
          return shown === undefined ? [] : [{ flowId, contradicted: shown }];
        }),
        next: flowIds.length === limit ? (flowIds.at(-1) ?? null) : null,
      };
    },
  });
  addRoute(server, {
    method: 'POST',
    params: FlowParams,
    path: '/flows/:kind/:reference/acknowledge',
    operationId: 'acknowledgeContradiction',
    tag: 'flows',
    permission: 'resolve',
    summary: 'Records that a person has seen to what contradicts a flow. Its state stays, and so does the flag.',
    body: {
      schema: { AcknowledgeBody },
      required: true,
      example: { note: 'the bank has sent it back; the customer is credited' },
    },
    answers: { 200: { says: 'The flow.', schema: { Flow } } },
    refusals: { 409: 'Nothing contradicts it that waits for a person.' },
    handler: async ({ params, caller, body: { note: why } }) => {
      const address = addressOf(params);
      const { flowId, reference } = address;
      const open = await contradictedJson(store, flowId);
      if (open === null || open.acknowledged !== null) {
        throw new Refusal(409, 'Nothing contradicts this flow that waits for a person.', { reference });
      }
      await store.audit.append({
        ...whoIs(caller),
        kind: 'order',
        flowId,
        action: 'acknowledge',
        details: { note: why, evidence: open.evidence },
      });
      await store.matters.acknowledge(flowId, caller.name);
      logger.info({ flowId, actor: caller.name }, 'a contradiction was acknowledged');
      return flowJson(deps, await shownFlow(deps.reader, address, caller));
    },
  });
}
