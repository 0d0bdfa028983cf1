import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { GivenFlow } from '../../api/operations.js';
import type { FlowOperationDeps } from '../flows/deps.js';
import { note } from '../flows/orders.js';
import { whoIs } from '../http/bearer-token.js';
import { addressOf, FlowParams } from '../http/flow-path.js';
import { noSuchFlow } from '../http/owners.js';
import { addRoute } from '../http/route.js';

/** As actors are recorded: of a gateway token, or `oidc:` and the name that the issuer gives a person. */
export const NAME = /^([A-Za-z0-9._-]{1,64}|oidc:[\x21-\x7e]{1,255})$/;

export const NAME_RULE = 'must be the name of a gateway token, or "oidc:" and the name of a person of the issuer';

const GiveBody = z.strictObject({
  to: z.string().regex(NAME, NAME_RULE),
  note: note().min(1, 'must say why'),
});

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
