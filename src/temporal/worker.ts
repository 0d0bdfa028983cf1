import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { activityInfo } from '@temporalio/activity';
import {
  type ActivityInboundCallsInterceptor,
  type ActivityInterceptorsFactory,
  NativeConnection,
  Worker,
  type WorkerDeploymentOptions,
  type WorkerOptions as SdkWorkerOptions,
} from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import { activitiesOn, createCardActivities, type ActivityDeps, type CardSource } from '../../activities/index.js';
import { QUEUES, taskQueueOf, type Queue } from '../protocol/task-queues.js';
import { flowIdOfCallbacks, TASK_QUEUE } from '../protocol/vocabulary.js';
import { traced } from '../tracing.js';
import { followConnectConfig, TemporalSettingsError, type LiveOptions } from './connect-config.js';
import { safeFailures } from './safe-failure.js';
import { installRuntime, type LogSink } from './sdk-logger.js';
import { bundledCode } from './workflow-bundle.js';

/** The queues that a worker serves, and how many tasks of each at a time. */
export interface WorkerShare {
  /** Those that this worker serves. @default all */
  readonly queues?: readonly Queue[];
  /** Activities at a time, by queue. @default the SDK's 100 each */
  readonly slots?: Partial<Readonly<Record<Queue, number>>>;
  /** Starts on the money queue per second, by all workers together. @default no limit */
  readonly moneyPerSecond?: number | undefined;
  /**
   * This worker's version in the worker deployment that is named like the task queue. Undefined: it takes all tasks, and
   * not those of a version.
   */
  readonly buildId?: string | undefined;
}

interface WorkerOptions extends WorkerShare {
  /** The `TEMPORAL_*` variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  readonly activities: ActivityDeps;
  readonly log: LogSink;
  /** Prebuilt workflow bundle; default: `dist/workflow-bundle.js` if it exists, else bundled now. */
  readonly bundlePath?: string;
  /** @default DORMANT_PATCHES */
  readonly dormantPatches?: readonly string[];
  /** The one that flows are started on; the others are named after it. @default TASK_QUEUE */
  readonly taskQueue?: string;
  readonly identity?: string;
}

export interface RunningWorker {
  /** Resolves when the worker has ended, rejects when it ended badly. */
  readonly ended: Promise<void>;
  /** Polls each of its queues. */
  isPolling(): boolean;
  /** Takes no new tasks, lets running ones finish, and resolves when all is done. */
  shutdown(): Promise<void>;
}

/**
 * Names of `patched('…')` in the workflows that this release knows and does not use yet: a flow that has passed one
 * goes on here, and no other passes it. A patch is listed for the release that brings it, so that a rollback to that
 * release can take over the flows of the next one.
 */
const DORMANT_PATCHES: readonly string[] = [];

/** How much longer than the longest money POST a worker waits for its activities at shutdown, ms. */
const GRACE_BEYOND_POST_MS = 15_000;

/** How long the SDK may delay a heartbeat, ms. */
const LONGEST_BEAT_PAUSE_MS = 250;

/** A worker for all flow kinds and their activities: one of the SDK's for each queue, on one connection. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { taskQueue = TASK_QUEUE, queues = QUEUES, slots = {}, moneyPerSecond, buildId } = options;
  const bundle = queues.includes('flows') ? { workflowBundle: await workflowBundle(options.bundlePath) } : {};
  const patches = leftInactive(options.dormantPatches ?? DORMANT_PATCHES);
  return runningWorkers(
    options,
    queues.map((queue) => ({
      taskQueue: taskQueueOf(taskQueue, queue),
      activities: activitiesOn(options.activities, queue),
      ...(queue === 'flows' ? { ...bundle, ...patches } : {}),
      ...(slots[queue] === undefined ? {} : { maxConcurrentActivityTaskExecutions: slots[queue] }),
      ...(queue !== 'money' || moneyPerSecond === undefined ? {} : { maxTaskQueueActivitiesPerSecond: moneyPerSecond }),
      ...(buildId === undefined ? {} : { workerDeploymentOptions: versionOf(taskQueue, buildId) }),
    })),
  );
}

/** Flows may be parked for weeks, so none is pinned: each moves with the current version, forwards and back. */
const versionOf = (deploymentName: string, buildId: string): WorkerDeploymentOptions => ({
  useWorkerVersioning: true,
  version: { deploymentName, buildId },
  defaultVersioningBehavior: 'AUTO_UPGRADE',
});

/** The SDK asks only where no history decides. */
const leftInactive = (dormant: readonly string[]): Pick<SdkWorkerOptions, 'patchActivationCallback'> =>
  dormant.length === 0 ? {} : { patchActivationCallback: ({ patchId }) => !dormant.includes(patchId) };

type Work = Pick<
  SdkWorkerOptions,
  'activities' | 'workflowBundle' | 'taskQueue' | 'workerDeploymentOptions' | 'patchActivationCallback'
>;

/** Workers that live and end together: if one fails, the process does not continue with a part of its work. */
async function runningWorkers(
  options: Omit<WorkerOptions, 'bundlePath' | 'taskQueue' | keyof WorkerShare>,
  works: readonly Work[],
): Promise<RunningWorker> {
  installRuntime(options.log);
  const onBroken = (code: string, problem: string) => options.log.error({ code, problem }, BROKEN);
  const live = followConnectConfig(options.variables, (error) =>
    onBroken(error instanceof TemporalSettingsError ? error.code : 'secret-file', error.message),
  ).options;
  const link = await openLink(live, (error) =>
    onBroken('not-connected', error instanceof Error ? error.name : 'unknown error'),
  );
  const create = (work: Work) =>
    Worker.create({
      connection: link.connection(),
      namespace: options.namespace,
      dataConverter: options.dataConverter,
      interceptors: { activity: [safeFailures, tracedActivities] },
      // Fixed pollers stalled now and then.
      workflowTaskPollerBehavior: { type: 'autoscaling' },
      activityTaskPollerBehavior: { type: 'autoscaling' },
      // By default the SDK delays them for four fifths of the timeout, and a worker whose heartbeat is late seems to be dead.
      maxHeartbeatThrottleInterval: LONGEST_BEAT_PAUSE_MS,
      // A POST that has begun is finished: if it were cut off, its outcome would be unknown.
      shutdownGraceTime: options.activities.serviceTimeoutMs + GRACE_BEYOND_POST_MS,
      ...(options.identity === undefined ? {} : { identity: options.identity }),
      ...work,
    });
  const workers: Worker[] = [];
  try {
    for (const work of works) workers.push(await create(work));
  } catch (error) {
    await link.close();
    throw error;
  }
  const ended = run(workers, link);
  // A rejection of `ended` that is not awaited is no crash.
  ended.catch(() => undefined);
  return {
    ended,
    isPolling: () => workers.every((worker) => isPolling(worker)),
    async shutdown() {
      stop(workers);
      await ended;
    },
  };
}

/** A worker without workflows has no workflow poller, and reports it as shut down. */
function isPolling(worker: Worker): boolean {
  const { runState, activityPollerState, workflowPollerState } = worker.getStatus();
  return runState === 'RUNNING' && activityPollerState === 'POLLING' && workflowPollerState !== 'FAILED';
}

function stop(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

async function run(workers: readonly Worker[], link: Link): Promise<void> {
  const runs = workers.map((worker) => worker.run());
  let renewing: Promise<void> | undefined;
  const renew = () => void (renewing ??= link.renew(workers).finally(() => (renewing = undefined)));
  const timer = setInterval(renew, RENEW_EVERY_MS);
  try {
    await Promise.all(runs);
  } finally {
    stop(workers);
    await Promise.allSettled(runs);
    clearInterval(timer);
    await renewing;
    await link.close();
  }
}

/** How long after a change of their files certificates and API key are in use, ms. */
const RENEW_EVERY_MS = 1_000;

const BROKEN = 'certificates or API key of Temporal cannot be used: the last good ones stay';

/** The connection of workers. The SDK's reads no files: a change of credentials is a new connection. */
interface Link {
  connection(): NativeConnection;
  /** Gives running workers a new connection if the credentials have changed. Never rejects. */
  renew(workers: readonly Worker[]): Promise<void>;
  close(): Promise<void>;
}

async function openLink(live: LiveOptions, onBroken: (error: unknown) => void): Promise<Link> {
  let used = live();
  let connection = await NativeConnection.connect(used);
  let failed: typeof used | undefined;
  return {
    connection: () => connection,
    async renew(workers) {
      const wanted = live();
      if (wanted === used) return;
      try {
        const next = await NativeConnection.connect(wanted);
        const areRunning = workers.every((worker) => worker.getState() === 'RUNNING');
        // Polls that are under way end on the previous connection, which the SDK keeps until then.
        const unused = areRunning ? connection : next;
        if (areRunning) {
          for (const worker of workers) worker.connection = next;
          [connection, used] = [next, wanted];
        }
        await unused.close();
      } catch (error) {
        if (failed !== wanted) onBroken(error);
        failed = wanted;
      }
    },
    close: () => connection.close(),
  };
}

async function workflowBundle(path: string | undefined): Promise<{ codePath: string } | { code: string }> {
  const prebuilt = path ?? fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  if (existsSync(prebuilt)) return { codePath: prebuilt };
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  return { code: await bundledCode(workflowsPath) };
}

export interface CardWorkerOptions extends Omit<WorkerOptions, 'bundlePath' | 'taskQueue' | keyof WorkerShare> {
  /** The cards of this process, and the task queue on which only it works. */
  readonly cards: CardSource & { readonly queue: string };
}

/** A worker for the one activity that sends cards. It has no workflows: those run wherever all flows run. */
export function startCardWorker({ cards, ...options }: CardWorkerOptions): Promise<RunningWorker> {
  const activities = createCardActivities(options.activities, cards);
  return runningWorkers(options, [{ taskQueue: cards.queue, activities }]);
}

/** Each attempt of an activity is a span of its flow's trace. Workflows make none: they are replayed. */
const tracedActivities: ActivityInterceptorsFactory = () => {
  const inbound: ActivityInboundCallsInterceptor = {
    execute(input, next) {
      const { activityType, attempt, workflowExecution } = activityInfo();
      const workflowId = workflowExecution?.workflowId;
      if (workflowId === undefined) return next(input);
      const flowId = flowIdOfCallbacks(workflowId) ?? workflowId;
      const attributes = { 'towline.attempt': attempt };
      return traced({ name: `activity ${activityType}`, flowId, attributes }, () => next(input));
    },
  };
  return { inbound };
};
