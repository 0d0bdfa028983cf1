import { durationMs } from './payloads.js';
import type { ActivityTask, Command, Run } from './run.js';

/** An activity as its command requests it. */
export function taskOf(
  nowMs: number,
  mainQueue: string,
  run: Run,
  command: NonNullable<Command['scheduleActivity'] | Command['scheduleLocalActivity']>,
  isLocal: boolean,
): ActivityTask {
  const { retryPolicy } = command;
  const initialMs = durationMs(retryPolicy?.initialInterval) ?? 1_000;
  const queueName = 'taskQueue' in command ? command.taskQueue : undefined;
  const limit = (duration: Parameters<typeof durationMs>[0]) => durationMs(duration) || undefined;
  return {
    run,
    seq: Number(command.seq),
    id: command.activityId ?? '',
    type: command.activityType ?? '',
    args: command.arguments ?? [],
    queue: queueName || mainQueue,
    isLocal,
    scheduledAtMs: nowMs,
    limits: {
      scheduleToClose: limit(command.scheduleToCloseTimeout),
      scheduleToStart: limit(command.scheduleToStartTimeout),
      startToClose: limit(command.startToCloseTimeout),
      heartbeat: 'heartbeatTimeout' in command ? limit(command.heartbeatTimeout) : undefined,
    },
    retry: {
      initialMs,
      coefficient: retryPolicy?.backoffCoefficient || 2,
      maximumMs: durationMs(retryPolicy?.maximumInterval) || initialMs * 100,
      attempts: retryPolicy?.maximumAttempts ?? 0,
      finalTypes: retryPolicy?.nonRetryableErrorTypes ?? [],
    },
    cancellationType: command.cancellationType ?? 0,
    attempt: 1,
    attemptScheduledAtMs: nowMs,
    heartbeatDetails: undefined,
    token: undefined,
    holder: undefined,
    cancelRequested: false,
    isDone: false,
    clocks: {},
    retryAt: undefined,
  };
}
