import { taskQueueOf, type Queue } from '../protocol/task-queues.js';
import { TASK_QUEUE } from '../protocol/vocabulary.js';
import type { TemporalClient } from './connection.js';

export interface QueueState {
  readonly queue: Queue;
  /** Its name in Temporal. */
  readonly taskQueue: string;
  readonly pollers: readonly { readonly identity: string; readonly seenAtMs: number }[];
  /** A limit that a person set at the server, which overrides that of the workers. Undefined: none. */
  readonly limit: { readonly perSecond: number; readonly reason: string } | undefined;
}

const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;

/** The pollers of a queue, and its rate limit. */
export async function queueState(
  { client, namespace }: Pick<TemporalClient, 'client' | 'namespace'>,
  queue: Queue,
): Promise<QueueState> {
  const taskQueue = taskQueueOf(TASK_QUEUE, queue);
  const { pollers, config } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: queue === 'flows' ? WORKFLOW_TASKS : ACTIVITY_TASKS,
    reportConfig: true,
  });
  const { rateLimit, metadata } = config?.queueRateLimit ?? {};
  return {
    queue,
    taskQueue,
    pollers: (pollers ?? []).map(({ identity, lastAccessTime }) => ({
      identity: identity ?? '',
      seenAtMs: Number(lastAccessTime?.seconds ?? 0) * 1_000,
    })),
    limit: rateLimit
      ? { perSecond: shortest(rateLimit.requestsPerSecond ?? 0), reason: metadata?.reason ?? '' }
      : undefined,
  };
}

/** Temporal keeps 32-bit floats: 0.001 comes back as 0.0010000000474974513. */
const shortest = (float: number): number => Number(float.toPrecision(7));
