import type { FastifyInstance } from 'fastify';
import { FlowParams } from '../../api/flow.js';
import { EraseBody, ErasedFlow } from '../../api/operations.js';
import { NO_LAST_WORDS } from '../../store/claim.js';
import { viewOf } from '../../temporal/flow-handle.js';
import type { FlowOperationDeps } from '../flows/deps.js';
import { recordingRefusals } from '../flows/give-order.js';
import { resolvedView } from '../flows/terminated-view.js';
import { whoIs } from '../http/bearer-token.js';
import { addressOf, type FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';

/** `POST …/erase`: what persons and the service said about a flow that has ended. */
export function addEraseRoute(server: FastifyInstance, deps: FlowOperationDeps): void {
  addRoute(server, {
    method: 'POST',
    params: FlowParams,
    path: '/flows/:kind/:reference/erase',
    operationId: 'eraseFlow',
    tag: 'operations',
    summary: 'Erases from the store what persons and the service said about a flow that has ended.',
    description: 'Its reference stays, so that nothing is sent twice. Its history in Temporal is not changed.',
    permission: 'erase',
    body: { schema: { EraseBody }, required: false, example: { note: 'request 12 of the data subject' } },
    answers: { 200: { says: 'Erased.', schema: { Erased: ErasedFlow } } },
    refusals: { 409: 'The flow has not ended.' },
    handler: async ({ params, caller, body: { note: why } }) => {
      const address = addressOf(params);
      const { flowId } = address;
      return recordingRefusals(deps, { ...whoIs(caller), flowId, action: 'erase' }, why, async () => {
        await requireEnded(deps, address);
        const details = why === undefined ? {} : { note: why };
        await deps.store.audit.append({ ...whoIs(caller), kind: 'erase', flowId, details });
        const erased = await deps.store.erase(flowId);
        deps.logger.info({ flowId, actor: caller.name }, 'a flow was erased from the store');
        return { flowId, ...erased };
      });
    },
  });
}

/** @throws Refusal 404, 409 */
async function requireEnded({ reader, store }: FlowOperationDeps, address: FlowAddress): Promise<void> {
  const { flowId, reference } = address;
  const refuse = (why: string) =>
    new Refusal(409, `${flowId} is not erased: ${why}`, { reference, code: 'flow_not_ended' });
  const facts = await reader.facts(flowId);
  if (facts === undefined) await requireNoOpenClaim();
  else {
    const { state } = await resolvedView(viewOf(facts, undefined), store);
    if (facts.isOpen || state === 'running' || state === 'parked') {
      throw refuse(`it has not ended (${state}).`);
    }
  }
  for (const state of ['waiting', 'delivered'] as const) {
    const events = await store.inbox.list({ flowId, state, limit: 1, bodies: false });
    if (events.length > 0) throw refuse('one of its events is still being delivered. Try again later.');
  }

  /** Temporal does not have the flow any more, or lost it: then its claims say whether it is over. */
  async function requireNoOpenClaim(): Promise<void> {
    const claims = await store.claims.ofFlow(flowId);
    const entries = claims.length === 0 ? await store.audit.list({ flowId, kind: 'start', limit: 1 }) : [];
    if (claims.length + entries.length === 0) {
      throw new Refusal(404, `There is no flow ${flowId}.`, { reference });
    }
    for (const claim of claims) {
      const isOpen = claim.phase === 'reserved' || claim.phase === 'sending';
      const orders = isOpen ? await store.claims.orders(claim) : [];
      const isDecided = orders.some(({ action }) => !NO_LAST_WORDS.includes(action));
      if (isOpen && !isDecided) {
        throw refuse(`Temporal does not have it, and its claim for ${claim.operation} is ${claim.phase}.`);
      }
    }
  }
}
