import type { FlowWithMoney } from '../../api/flow.js';
import { parkedMatterId } from '../../protocol/matters.js';
import { foreignType, type FlowFacts } from '../../temporal/flow-handle.js';
import { resumeFlow } from '../../temporal/resume-flow.js';
import { asOrder, type Caller } from '../http/bearer-token.js';
import type { FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { admitOrder, hasEnded, type GivenOrder } from './give-order.js';
import { resolvedView } from './terminated-view.js';

/** The one order about a flow that was terminated: it takes no other, and starts again by this one. */
export async function resume(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  order: GivenOrder,
  facts: FlowFacts,
): Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }> {
  const { client, logger, reader, store } = deps;
  const { flowId, reference } = address;
  const before = await resolvedView(await shownFlow(reader, address, asOrder(caller)), store);
  const { parked } = before;
  if (parked === null) throw hasEnded(before);
  if (!parked.actions.some((legal) => legal === order.action)) {
    const legal = `Legal now: ${parked.actions.join(', ')}.`;
    throw new Refusal(409, `"${order.action}" is not possible for this terminated flow. ${legal}`, {
      reference,
      code: 'unknown_action',
      actions: parked.actions,
    });
  }
  const foreign = foreignType(facts);
  if (foreign !== undefined) {
    const why = `The flow cannot be resumed: ${foreign}. Close its claims (towline claims close ${flowId}).`;
    throw new Refusal(409, why, { reference, code: 'foreign_flow', actions: [] });
  }
  const admitted = await admitOrder(deps, caller, address, order, before);
  if (admitted === undefined) return { view: before, isProposed: true };
  const { id, proposal } = admitted;
  const resumed = await resumeFlow(client, facts, id);
  if (resumed === 'gone') {
    const why = `Temporal does not have its input any more: close its claims (towline claims close ${flowId}).`;
    throw new Refusal(409, why, { reference, code: 'flow_terminated', actions: [] });
  }
  logger.info({ flowId, actor: caller.name, resumed }, 'a person resumed a terminated flow');
  if (proposal !== undefined) await store.proposals.end(proposal, true);
  // If the store fails, the next reminder finds it running.
  await store.matters.resolve(parkedMatterId(flowId, parked.since)).catch(() => undefined);
  return { view: await shownFlow(reader, address, asOrder(caller)), isProposed: false };
}
