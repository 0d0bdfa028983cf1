import type { Flow, FlowWithMoney } from '../../api/flow.js';
import type { FlowOperationDeps } from './deps.js';
import { contradictedJson } from './contradicted-json.js';
import { resolvedView } from './terminated-view.js';
import { proposedOrder, topicOf } from './second-person.js';

/**
 * A flow as every route answers it, including what was decided about it since it was terminated, and proposals that
 * wait for a second person.
 */
export async function flowJson(deps: Pick<FlowOperationDeps, 'store'>, view: FlowWithMoney): Promise<Flow> {
  const resolved = await resolvedView(view, deps.store);
  const [proposal, contradicted] = await Promise.all([
    proposedOrder(deps, resolved.flowId, topicOf(resolved)),
    contradictedJson(deps.store, resolved.flowId),
  ]);
  return { ...resolved, proposal, contradicted };
}
