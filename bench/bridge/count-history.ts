import type { Client } from '@temporalio/client';

/** Events that are billed as an action each; retries of activities are, too, and are no events. */
const ACTIONS = [
  'workflowExecutionStartedEventAttributes',
  'activityTaskScheduledEventAttributes',
  'timerStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
  'startChildWorkflowExecutionInitiatedEventAttributes',
  'signalExternalWorkflowExecutionInitiatedEventAttributes',
  'markerRecordedEventAttributes',
] as const;

export interface HistorySize {
  readonly events: number;
  readonly actions: number;
  /** Of each kind of action, how many. */
  readonly detail: string;
}

export async function sizeOfHistory(client: Client, workflowId: string): Promise<HistorySize> {
  const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
  const counts = ACTIONS.map((name) => ({ name, count: (events ?? []).filter((event) => event[name] != null).length }));
  return {
    events: events?.length ?? 0,
    actions: counts.reduce((sum, { count }) => sum + count, 0),
    detail: counts
      .filter(({ count }) => count > 0)
      .map(({ name, count }) => `${count} ${name.replace('EventAttributes', '')}`)
      .join(', '),
  };
}
