import type { FastifyInstance } from 'fastify';
import { FlowParams } from '../../api/flow.js';
import { GiveBody, GivenFlow } from '../../api/operations.js';
import type { FlowOperationDeps } from '../flows/deps.js';
import { whoIs } from '../http/bearer-token.js';
import { addressOf } from '../http/flow-path.js';
import { noSuchFlow } from '../http/owners.js';
import { addRoute } from '../http/route.js';

/** `POST …/give`: a flow belongs to the name that started it, until an admin gives it to another one. */
export function addGiveRoute(
  server: FastifyInstance,
  { store, reader, logger }: Pick<FlowOperationDeps, 'store' | 'reader' | 'logger'>,
): void {
  addRoute(server, {
    method: 'POST',
    params: FlowParams,
    path: '/flows/:kind/:reference/give',
    operationId: 'giveFlow',
    tag: 'operations',
    summary: 'Gives a flow to another name, which sees and orders it from then on.',
    permission: 'give',
    body: { schema: { GiveBody }, required: true, example: { to: 'shop-2', note: 'the shop has a new backend' } },
    answers: { 200: { says: 'Whose it is now.', schema: { Given: GivenFlow } } },
    handler: async ({ params, caller, body: { to, note: why } }) => {
      const address = addressOf(params);
      const { flowId } = address;
      const owner = (await store.audit.ownersOf([flowId])).get(flowId);
      if (owner === undefined && (await reader.facts(flowId)) === undefined) throw noSuchFlow(address);
      const before = owner?.name ?? null;
      // The entry is what makes it theirs.
      await store.audit.append({ ...whoIs(caller), kind: 'give', flowId, subject: to, details: { note: why, before } });
      logger.info({ flowId, actor: caller.name, to }, 'a flow was given to another name');
      return { flowId, owner: to, before };
    },
  });
}
