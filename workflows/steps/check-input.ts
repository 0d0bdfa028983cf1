import { isCancellation, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import type { FlowPreparation } from '../../activities/flow-step-terms.js';
import type { Activities } from '../../activities/index.js';
import { requireDecoded } from '../../src/temporal/plaintext-marker.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';
import { CHECK, READ } from './policies.js';

/** Checks the input and says what the flow needs from outside; nothing has moved yet. */
export function checkInput(flow: Flow, rawInput: unknown): Promise<FlowPreparation> {
  const order = { flowId: flow.flowId, input: rawInput };
  return checkAtOnce('prepareFlow', order, () => act(READ, 'Check the input', flow.timeScale).prepareFlow(order));
}

type Checks = Pick<Activities, 'prepareFlow' | 'prepareBridgeTransfer'>;

/**
 * Runs a check that needs nothing but the input and our own store on the worker that has the flow at hand: a step less
 * on the way to the service's answer. One brief try; where that fails, `otherwise` has the last word, the ordinary
 * activity, whose retries the server keeps. It may run twice, and so is never for what moves money.
 */
export async function checkAtOnce<Name extends keyof Checks>(
  name: Name,
  argument: Parameters<Checks[Name]>[0],
  otherwise: () => ReturnType<Checks[Name]>,
): Promise<Awaited<ReturnType<Checks[Name]>>> {
  const local = proxyLocalActivities<Record<string, (argument: unknown) => Promise<unknown>>>(CHECK);
  try {
    return requireDecoded(await local[name]?.(argument)) as Awaited<ReturnType<Checks[Name]>>;
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return await otherwise();
  }
}
