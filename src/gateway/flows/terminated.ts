import type { FlowState } from '../../flows/vocabulary.js';
import type { Store } from '../../store/store.js';
import { type FlowReader, viewOf } from '../../temporal/flow-handle.js';
import { resolvedView } from './resolve-terminated.js';

export interface TerminatedDeps {
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly store: Store;
}

/** Where Temporal's visibility shows what may be no flow that waits for a person. */
export const isTerminated = (status: string): boolean => status === 'TERMINATED' || status === 'TIMED_OUT';

/**
 * How a flow stands that visibility shows as terminated: a person may have decided it since, on its claims. Undefined
 * where that run is not its last one: a reset in the UI terminates a run, and goes on as another.
 */
export async function standingOfTerminated(
  { reader, store }: TerminatedDeps,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<FlowState | undefined> {
  const facts = await reader.facts(workflowId);
  if (facts === undefined || facts.runId !== runId) return undefined;
  return (await resolvedView(viewOf(facts, undefined), store)).state;
}
