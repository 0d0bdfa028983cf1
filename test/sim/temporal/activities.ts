import { asyncLocalStorage, Context } from '@temporalio/activity';
import { noopMetricMeter } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { safeFailures } from '../../../src/temporal/safe-failure.js';
import type { Chance } from '../core/chance.js';
import type { Process } from '../core/process.js';
import type { Timeline } from '../core/timeline.js';
import type { Trace } from '../core/trace.js';
import { fromPayload, toFailure, toPayload, type Failure } from './payloads.js';
import { isOpen, type ActivityTask, type Job } from './run.js';

/** A process that takes tasks from a queue. */
export interface ActivityWorker {
  readonly process: Process;
  readonly queue: string;
  readonly activities: Readonly<Record<string, (argument: never) => Promise<unknown>>>;
  /** What `Context.current().client` is. */
  readonly client: unknown;
}

export type ActivityOutcome = { readonly result: unknown } | { readonly failure: Failure };

/** How the answer of one try reaches the server. */
type CompletionFault = 'none' | 'lost' | 'twice' | 'late';

export interface ActivityDeps {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
  readonly workersOf: (queue: string) => readonly ActivityWorker[];
  readonly completionFault: (task: ActivityTask) => CompletionFault;
  readonly isHeartbeatLost: () => boolean;
  /** Reports the result to the workflow. */
  readonly resolve: (task: ActivityTask, job: Job) => void;
}

const NOBODY_MS = 200;

/**
 * The server's side of activities: at least once. An attempt may be run, finished and lost; then it times out, and
 * another one is made. A late answer of an earlier attempt is ignored.
 */
export function createActivityServer(deps: ActivityDeps) {
  const { timeline, trace, chance } = deps;
  let tokens = 0;

  function schedule(task: ActivityTask): void {
    task.attemptScheduledAtMs = timeline.nowMs;
    task.token = undefined;
    const { scheduleToStart } = task.limits;
    if (scheduleToStart !== undefined) {
      task.clocks.start = timeline.in(scheduleToStart, () => timedOut(task, TIMEOUTS.scheduleToStart));
    }
    offer(task);
  }

  function offer(task: ActivityTask): void {
    timeline.in(chance.yes(0.9) ? chance.int(1, 20) : chance.int(20, 2_000), () => begin(task));
  }

  function begin(task: ActivityTask): void {
    if (task.isDone || task.token !== undefined || !isOpen(task.run)) return;
    const workers = deps.workersOf(task.queue).filter(({ process }) => process.isAlive && !process.isStopped);
    // Only a daemon looks for a worker that may never come; the queue of a card's gateway dies with it.
    if (workers.length === 0) return void timeline.in(NOBODY_MS, () => begin(task), task.limits.scheduleToStart === undefined); // prettier-ignore
    const worker = chance.one(workers);
    task.clocks.start?.cancel();
    const token = (tokens += 1);
    task.token = token;
    task.holder = worker.process;
    armed(task, 'close', task.limits.startToClose, TIMEOUTS.startToClose);
    armed(task, 'beat', task.limits.heartbeat, TIMEOUTS.heartbeat);
    trace.add(worker.process.name, `activity ${task.type}`, `try ${task.attempt} of ${task.run.workflowId}`);
    void execute(task, token, worker);
  }

  async function execute(task: ActivityTask, token: number, worker: ActivityWorker): Promise<void> {
    const { process } = worker;
    const heartbeat = (details: unknown): void => {
      if (deps.isHeartbeatLost()) return trace.fault('heartbeat lost');
      // Core sends what an attempt has noted before it reports the attempt's failure.
      if (task.token === token) task.heartbeatDetails = details;
      timeline.in(chance.int(1, 20), () => {
        if (task.token === token) armed(task, 'beat', task.limits.heartbeat, TIMEOUTS.heartbeat);
      });
    };
    const context = new Context(
      infoOf(task) as never,
      new Promise<never>(() => undefined),
      new AbortController().signal,
      heartbeat,
      worker.client as never,
      SILENT,
      noopMetricMeter,
      {},
    );
    const activity = worker.activities[task.type];
    let outcome: ActivityOutcome;
    try {
      if (activity === undefined) throw new Error(`no activity ${task.type}`);
      const argument = fromPayload(task.args[0]) as never;
      const work = () => activity(argument);
      const run = () => SAFE.execute({ args: [argument], headers: {} }, work);
      outcome = { result: await asyncLocalStorage.run(context, run) };
    } catch (error) {
      outcome = { failure: toFailure(error) };
    }
    if (!process.isAlive) return;
    report(task, token, process, outcome);
  }

  function report(task: ActivityTask, token: number, process: Process, outcome: ActivityOutcome): void {
    const fault = task.isLocal ? 'none' : deps.completionFault(task);
    if (fault !== 'none') trace.fault(`completion ${fault}`);
    if (fault === 'lost') return trace.add(process.name, `completion of ${task.type}`, 'LOST');
    const latencyMs = fault === 'late' ? chance.int(5_000, 150_000) : chance.int(1, 20);
    timeline.in(latencyMs, () => completed(task, token, outcome));
    if (fault === 'twice') timeline.in(latencyMs + chance.int(1, 3_000), () => completed(task, token, outcome));
  }

  function completed(task: ActivityTask, token: number, outcome: ActivityOutcome): void {
    if (task.isDone || task.token !== token || !isOpen(task.run)) return trace.add('temporal', `completion of ${task.type}`, 'not taken: another try is due'); // prettier-ignore
    if ('result' in outcome) return succeed(task, outcome.result);
    failed(task, outcome.failure);
  }

  function timedOut(task: ActivityTask, timeout: Timeout): void {
    if (task.isDone || !isOpen(task.run)) return;
    trace.add('temporal', `${task.type} of ${task.run.workflowId}`, `TIMEOUT ${timeout.name}`);
    const failure: Failure = {
      message: `activity ${timeout.name} timeout`,
      timeoutFailureInfo: { timeoutType: timeout.type },
    };
    if (timeout.isFinal) return fail(task, failure, RETRY_STATES.timeout);
    failed(task, failure);
  }

  function failed(task: ActivityTask, failure: Failure): void {
    stopClocks(task);
    task.token = undefined;
    const info = failure.applicationFailureInfo;
    const { retry } = task;
    const isFinal = info?.nonRetryable === true || retry.finalTypes.includes(info?.type ?? '');
    if (isFinal) return fail(task, failure, RETRY_STATES.nonRetryable);
    if (task.cancelRequested) return cancel(task);
    if (retry.attempts > 0 && task.attempt >= retry.attempts) return fail(task, failure, RETRY_STATES.attempts);
    const backoffMs = Math.min(retry.maximumMs, retry.initialMs * retry.coefficient ** (task.attempt - 1));
    const hint = info?.nextRetryDelay;
    const delayMs = hint == null ? backoffMs : Number(hint.seconds ?? 0) * 1_000 + (hint.nanos ?? 0) / 1e6;
    const { scheduleToClose } = task.limits;
    if (scheduleToClose !== undefined && timeline.nowMs + delayMs >= task.scheduledAtMs + scheduleToClose) {
      return fail(task, failure, RETRY_STATES.timeout);
    }
    task.attempt += 1;
    task.retryAt = timeline.in(delayMs, () => {
      task.retryAt = undefined;
      if (!task.isDone && isOpen(task.run)) schedule(task);
    });
  }

  function succeed(task: ActivityTask, result: unknown): void {
    end(task, { completed: { result: toPayload(result) } });
  }

  function fail(task: ActivityTask, cause: Failure, retryState: number): void {
    // A local activity has no retry state of the server, but is shown as the same failure.
    end(task, { failed: { failure: wrapped(task, 'Activity task failed', cause, retryState) } });
  }

  function cancel(task: ActivityTask): void {
    const cause: Failure = { message: 'Cancelled', canceledFailureInfo: {} };
    end(task, { cancelled: { failure: wrapped(task, 'Activity cancelled', cause, RETRY_STATES.cancel) } });
  }

  function end(task: ActivityTask, result: NonNullable<NonNullable<Job['resolveActivity']>['result']>): void {
    stopClocks(task);
    task.isDone = true;
    task.run.activities.delete(task.seq);
    deps.resolve(task, { resolveActivity: { seq: task.seq, isLocal: task.isLocal, result } });
  }

  function armed(task: ActivityTask, clock: 'close' | 'beat', limitMs: number | undefined, timeout: Timeout): void {
    task.clocks[clock]?.cancel();
    if (limitMs === undefined || task.isLocal) return;
    const token = task.token;
    task.clocks[clock] = timeline.in(limitMs, () => {
      if (task.token === token) timedOut(task, timeout);
    });
  }

  function stopClocks({ clocks }: ActivityTask): void {
    clocks.start?.cancel();
    clocks.close?.cancel();
    clocks.beat?.cancel();
  }

  return {
    schedule,
    /** A workflow requests the cancellation of one of its activities. */
    requestCancel(task: ActivityTask): void {
      if (task.isDone) return;
      task.cancelRequested = true;
      // Between two attempts, or before the first: there is no worker to ask.
      const isIdle = task.token === undefined;
      if (task.cancellationType !== WAIT_CANCELLATION || isIdle) {
        task.retryAt?.cancel();
        cancel(task);
      }
    },
    /** Its run is over: nothing waits for it. */
    drop(task: ActivityTask): void {
      task.isDone = true;
      task.retryAt?.cancel();
      stopClocks(task);
    },
    /** The workflow task that it was part of is lost. */
    again(task: ActivityTask): void {
      task.token = undefined;
      offer(task);
    },
  };
}

const WAIT_CANCELLATION = 1;
const SAFE = safeFailures({} as never).inbound as Required<ActivityInboundCallsInterceptor>;
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

interface Timeout {
  readonly name: string;
  readonly type: number;
  readonly isFinal: boolean;
}
const TIMEOUTS = {
  startToClose: { name: 'start-to-close', type: 1, isFinal: false },
  scheduleToStart: { name: 'schedule-to-start', type: 2, isFinal: true },
  heartbeat: { name: 'heartbeat', type: 4, isFinal: false },
} satisfies Record<string, Timeout>;
const RETRY_STATES = { nonRetryable: 2, timeout: 3, attempts: 4, cancel: 7 } as const;

function wrapped(task: ActivityTask, message: string, cause: Failure, retryState: number): Failure {
  return {
    message,
    cause,
    activityFailureInfo: { activityId: task.id, activityType: { name: task.type }, retryState, identity: 'sim' },
  };
}

const infoOf = (task: ActivityTask) => ({
  taskToken: new Uint8Array(),
  base64TaskToken: '',
  activityId: task.id,
  activityType: task.type,
  activityNamespace: 'default',
  workflowNamespace: 'default',
  workflowType: task.run.type,
  workflowExecution: { workflowId: task.run.workflowId, runId: task.run.runId },
  attempt: task.attempt,
  isLocal: task.isLocal,
  scheduledTimestampMs: task.scheduledAtMs,
  currentAttemptScheduledTimestampMs: task.attemptScheduledAtMs,
  scheduleToCloseTimeoutMs: task.limits.scheduleToClose ?? 0,
  startToCloseTimeoutMs: task.limits.startToClose ?? 0,
  taskQueue: task.queue,
  heartbeatDetails: task.heartbeatDetails,
});
