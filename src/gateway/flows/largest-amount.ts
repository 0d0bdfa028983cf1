import type { FlowDefinition } from '../../flows/flow.js';
import { tooMuch } from '../../flows/largest-amount.js';
import type { FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { FlowOperationDeps } from './deps.js';

type Deps = Pick<FlowOperationDeps, 'settings' | 'reader'>;

/**
 * Refuses a new flow above `MAX_AMOUNTS`. An existing flow is still found, whatever the limit is by now: a refusal
 * would say that nothing was sent.
 *
 * @throws Refusal 400
 */
export async function checkLargest(
  { settings, reader }: Deps,
  definition: FlowDefinition,
  input: unknown,
  { flowId, reference }: FlowAddress,
): Promise<void> {
  const above = tooMuch(definition, input, settings.maxAmounts);
  if (above === undefined || (await reader.facts(flowId)) !== undefined) return;
  throw new Refusal(400, `${above.path} ${above.message}. Nothing was sent.`, { reference, errors: [above] });
}
