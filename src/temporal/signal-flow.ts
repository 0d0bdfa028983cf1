import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { FlowEvent } from '../flows/messages.js';
import { EVENTS_SIGNAL } from '../flows/vocabulary.js';

/** `not-found`: closed, or never started; `describe` tells which. */
export type SignalOutcome = 'delivered' | 'not-found';

const DEADLINE_MS = 5_000;

/**
 * One signal with a batch of events. A signal whose answer was lost may arrive twice: flows take each event id once.
 * @throws ServiceError where Temporal cannot be reached
 */
export async function signalFlow(
  client: Client,
  flowId: string,
  events: readonly FlowEvent[],
  deadlineMs = DEADLINE_MS,
): Promise<SignalOutcome> {
  const send = () => client.workflow.getHandle(flowId).signal<[readonly FlowEvent[]]>(EVENTS_SIGNAL, events);
  try {
    await client.connection.withDeadline(Date.now() + deadlineMs, send);
    return 'delivered';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'not-found';
    throw error;
  }
}
