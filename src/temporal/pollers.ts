import type { Client } from '@temporalio/client';
import { taskQueueOf, type Queue } from '../protocol/task-queues.js';
import { TASK_QUEUE } from '../protocol/vocabulary.js';

interface Asked {
  readonly client: Client;
  readonly namespace: string;
}

export interface QueueState {
  readonly queue: Queue;
  /** Its name in Temporal. */
  readonly taskQueue: string;
  readonly pollers: readonly { readonly identity: string; readonly seenAtMs: number }[];
  /** What a person set at the server, above what workers ask for. Undefined: nothing. */
  readonly limit: { readonly perSecond: number; readonly reason: string } | undefined;
}

const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;

/** Who takes tasks of a queue, and how many it may give out. */
export async function queueState({ client, namespace }: Asked, queue: Queue): Promise<QueueState> {
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
    limit: rateLimit ? { perSecond: rateLimit.requestsPerSecond ?? 0, reason: metadata?.reason ?? '' } : undefined,
  };
}
