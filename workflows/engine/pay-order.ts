import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { DescribedStep, FlowPreparation } from '../../activities/types.js';
import type { FlowView } from '../../src/api/flow.js';
import type { PayOrder } from '../../src/protocol/messages.js';
import { act } from './activities.js';
import { orderRefused } from './updates.js';
import { PAY_ORDER_PATIENCE_MS, READ } from './policies.js';
import { within } from './waits.js';

interface Ordering {
  readonly flowId: string;
  readonly timeScale: number;
  readonly scaled: (ms: number) => number;
  readonly view: () => FlowView;
}

/**
 * The checked terms of an order to pay. An error in an order ends the order, and not the flow.
 *
 * @throws ApplicationFailure, which refuses the update
 */
export async function describePay(
  flow: Ordering,
  prepared: FlowPreparation | null,
  payOrder: PayOrder,
): Promise<DescribedStep> {
  const hasEnded = (): boolean => flow.view().outcome !== null;
  if (prepared === null || hasEnded()) throw orderRefused('flow_ended', ENDED);
  const input = withOrder(prepared.input, payOrder);
  const order = { flowId: flow.flowId, step: 'pay', input, pin: prepared.pin };
  try {
    const described = await within(
      flow,
      PAY_ORDER_PATIENCE_MS,
      () => act(READ, 'Check the order to pay', flow.timeScale).describeStep(order),
      hasEnded,
    );
    if (described === undefined) throw orderRefused('flow_ended', ENDED);
    return described;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) throw error;
    const { type, message } = error.cause;
    throw ApplicationFailure.create({ type: type ?? 'invalid_input', message });
  }
}

const ENDED = 'The flow has ended.';

/** The flow's input, as if the order had come with it. */
function withOrder(input: unknown, { actor: _actor, proof: _proof, ...payment }: PayOrder): unknown {
  const before = input as { readonly pay: 'generated' | 'existing' };
  return before.pay === 'existing' ? { ...before, ...payment } : { ...before, payment };
}
