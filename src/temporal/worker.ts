import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions as SdkWorkerOptions } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import {
  createActivities,
  createCallbackActivities,
  createCardActivities,
  type ActivityDeps,
  type CardSource,
} from '../../activities/index.js';
import { callbackQueueOf, TASK_QUEUE } from '../protocol/vocabulary.js';
import { safeFailures } from './safe-failure.js';
import { installRuntime, type LogSink } from './sdk-logger.js';
import { bundledCode } from './workflow-bundle.js';

interface WorkerOptions {
  /** The `TEMPORAL_*` variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  readonly activities: ActivityDeps;
  readonly log: LogSink;
  /** Prebuilt workflow bundle; default: `dist/workflow-bundle.js` where it is, else bundled now. */
  readonly bundlePath?: string;
  /** @default TASK_QUEUE */
  readonly taskQueue?: string;
  readonly identity?: string;
}

export interface RunningWorker {
  /** Resolves when the worker has ended, rejects when it ended badly. */
  readonly ended: Promise<void>;
  /** Takes no new tasks, lets running ones finish, and resolves when all is done. */
  shutdown(): Promise<void>;
}

/** How much longer than the longest money POST a worker waits for its activities at shutdown, ms. */
const GRACE_BEYOND_POST_MS = 15_000;

/** How long the SDK may hold a heartbeat back, ms. */
const LONGEST_BEAT_PAUSE_MS = 250;

/** A worker for all flow kinds and their activities. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { taskQueue = TASK_QUEUE } = options;
  const flows = await runningWorker(options, {
    activities: createActivities(options.activities),
    workflowBundle: await workflowBundle(options.bundlePath),
  });
  const callbacks = await runningWorker(
    { ...options, taskQueue: callbackQueueOf(taskQueue) },
    { activities: createCallbackActivities(options.activities) },
  ).catch(async (error: unknown) => {
    await flows.shutdown().catch(() => undefined);
    throw error;
  });
  const both = [flows, callbacks];
  const ended = Promise.all(both.map((worker) => worker.ended)).then(() => undefined);
  // Where one of them ends badly, the process does not go on with half of its work.
  ended.catch(() => undefined);
  return {
    ended,
    shutdown: async () => void (await Promise.all(both.map((worker) => worker.shutdown()))),
  };
}

/** A worker with these activities, and with workflows only where there is a bundle of them. */
async function runningWorker(
  options: Omit<WorkerOptions, 'bundlePath'>,
  work: Pick<SdkWorkerOptions, 'activities' | 'workflowBundle'>,
): Promise<RunningWorker> {
  installRuntime(options.log);
  const config = loadClientConnectConfig({ overrideEnvVars: { ...options.variables } });
  const connection = await NativeConnection.connect(config.connectionOptions);
  const worker = await Worker.create({
    connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    dataConverter: options.dataConverter,
    interceptors: { activity: [safeFailures] },
    // Fixed pollers stalled now and then.
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
    // By default it holds them back for four fifths of the timeout, and one that is late looks like a dead worker.
    maxHeartbeatThrottleInterval: LONGEST_BEAT_PAUSE_MS,
    // A POST that was begun is finished: cut off, it would be unknown.
    shutdownGraceTime: options.activities.serviceTimeoutMs + GRACE_BEYOND_POST_MS,
    ...(options.identity === undefined ? {} : { identity: options.identity }),
    ...work,
  });
  const ended = run(worker, connection);
  // A rejection of `ended` that is not awaited is no crash.
  ended.catch(() => undefined);
  return {
    ended,
    async shutdown() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

async function run(worker: Worker, connection: NativeConnection): Promise<void> {
  try {
    await worker.run();
  } finally {
    await connection.close();
  }
}

async function workflowBundle(path: string | undefined): Promise<{ codePath: string } | { code: string }> {
  const prebuilt = path ?? fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  if (existsSync(prebuilt)) return { codePath: prebuilt };
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  return { code: await bundledCode(workflowsPath) };
}

export interface CardWorkerOptions extends Omit<WorkerOptions, 'bundlePath' | 'taskQueue'> {
  /** The cards of this process, and the task queue on which only it works. */
  readonly cards: CardSource & { readonly queue: string };
}

/** A worker for the one activity that sends cards. It has no workflows: those run wherever all flows run. */
export function startCardWorker({ cards, ...options }: CardWorkerOptions): Promise<RunningWorker> {
  return runningWorker(
    { ...options, taskQueue: cards.queue },
    { activities: createCardActivities(options.activities, cards) },
  );
}
