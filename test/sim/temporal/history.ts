import type { temporal } from '@temporalio/proto';
import type { Command, Job, Run, Turn } from './run.js';

type Event = temporal.api.history.v1.IHistoryEvent;

/** The history that a server would have of this run: as many events, with the payloads that are in them. */
export function eventsOf(run: Run): readonly Event[] {
  const input = { payloads: [...run.args] };
  const events: Event[] = [
    { workflowExecutionStartedEventAttributes: { workflowType: { name: run.type }, input } },
    ...run.turns.flatMap(eventsOfTurn),
    ...run.pending.flatMap(eventsOfJob),
  ];
  return events.map((event, index) => ({ ...event, eventId: index + 1 }) as unknown as Event);
}

const eventsOfTurn = ({ jobs, commands }: Turn): readonly Event[] => [
  ...jobs.flatMap(eventsOfJob),
  { workflowTaskScheduledEventAttributes: {} },
  { workflowTaskStartedEventAttributes: {} },
  { workflowTaskCompletedEventAttributes: {} },
  ...commands.flatMap(eventsOfCommand),
];

/** The events of a job: what came from outside. An update and a first task have their events elsewhere. */
function eventsOfJob({ signalWorkflow, fireTimer, resolveActivity, cancelWorkflow, ...other }: Job): readonly Event[] {
  if (signalWorkflow) {
    const { signalName, input } = signalWorkflow;
    return [{ workflowExecutionSignaledEventAttributes: { signalName: signalName ?? '', input: { payloads: input ?? [] } } }]; // prettier-ignore
  }
  if (fireTimer) return [{ timerFiredEventAttributes: {} }];
  if (cancelWorkflow) return [{ workflowExecutionCancelRequestedEventAttributes: {} }];
  if (resolveActivity) {
    const { completed, failed, cancelled } = resolveActivity.result ?? {};
    // A local one is a marker, with its result.
    if (resolveActivity.isLocal) return [{ markerRecordedEventAttributes: { markerName: 'core_local_activity', details: { result: { payloads: completed?.result ? [completed.result] : [] } } } }]; // prettier-ignore
    const started: Event = { activityTaskStartedEventAttributes: {} };
    if (completed) return [started, { activityTaskCompletedEventAttributes: { result: { payloads: completed.result ? [completed.result] : [] } } }]; // prettier-ignore
    if (failed) return [started, { activityTaskFailedEventAttributes: { failure: failed.failure ?? {} } }];
    return cancelled ? [{ activityTaskCanceledEventAttributes: {} }] : [];
  }
  if (other.resolveChildWorkflowExecutionStart) return [{ childWorkflowExecutionStartedEventAttributes: {} }];
  if (other.resolveSignalExternalWorkflow) return [{ externalWorkflowExecutionSignaledEventAttributes: {} }];
  return [];
}

function eventsOfCommand(command: Command): readonly Event[] {
  const { scheduleActivity, updateResponse, completeWorkflowExecution, failWorkflowExecution } = command;
  if (scheduleActivity) {
    const { activityType, arguments: input } = scheduleActivity;
    return [{ activityTaskScheduledEventAttributes: { activityType: { name: activityType ?? '' }, input: { payloads: input ?? [] } } }]; // prettier-ignore
  }
  if (updateResponse) {
    if (updateResponse.accepted) return [{ workflowExecutionUpdateAcceptedEventAttributes: {} }];
    if (updateResponse.rejected) return [];
    const { completed } = updateResponse;
    return [{ workflowExecutionUpdateCompletedEventAttributes: { outcome: { success: { payloads: completed ? [completed] : [] } } } }]; // prettier-ignore
  }
  if (completeWorkflowExecution) {
    const { result } = completeWorkflowExecution;
    return [{ workflowExecutionCompletedEventAttributes: { result: { payloads: result ? [result] : [] } } }];
  }
  if (failWorkflowExecution) return [{ workflowExecutionFailedEventAttributes: { failure: failWorkflowExecution.failure ?? {} } }]; // prettier-ignore
  // Their results are the markers above.
  if (command.scheduleLocalActivity) return [];
  // One each: a timer, a search attribute, a child, a signal to another.
  return [{}];
}
