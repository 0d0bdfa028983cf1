import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { Flow } from './flow.js';
import { MAX_SIGNALS_PER_RUN } from './policies.js';

/** True where the run has grown so long that the flow should continue in a new one. */
export function tooLong(flow: Flow): boolean {
  return flow.signals() >= MAX_SIGNALS_PER_RUN || workflowInfo().continueAsNewSuggested;
}

/** Nothing is under way that a new run would cut off. */
export function canGoOnAsNew(flow: Flow): boolean {
  return allHandlersFinished() && (flow.reports?.idle() ?? true);
}

/** Between steps only: no POST is in flight, and what is carried holds event ids and the absolute deadline. */
export async function goOnAsNew(flow: Flow, input: unknown, carried: () => unknown): Promise<never> {
  flow.goesOnAsNew = true;
  await condition(() => canGoOnAsNew(flow));
  return continueAsNew<(input: unknown, carried: unknown) => Promise<unknown>>(input, carried());
}
