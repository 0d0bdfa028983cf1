import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { TASK_QUEUE } from '../../flows/vocabulary.js';

const PAUSE_MS = 50;
const ANSWER_WITHIN_MS = 5_000;
const WORKFLOW_TASKS = 1;

/** Asks an address until it answers with a 2xx; returns early when the signal is aborted. */
export async function untilItAnswers(url: string, signal: AbortSignal): Promise<void> {
  await untilTrue(signal, async () => (await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })).ok);
}

/** Asks Temporal until the worker with this identity takes tasks. */
export async function untilItPolls(
  temporal: { readonly client: Client; readonly namespace: string },
  identity: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, namespace } = temporal;
  await untilTrue(signal, async () => {
    const ask = () =>
      client.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: TASK_QUEUE },
        taskQueueType: WORKFLOW_TASKS,
      });
    const { pollers } = await client.connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
    return pollers?.some((poller) => poller.identity === identity) ?? false;
  });
}

async function untilTrue(signal: AbortSignal, ask: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await ask().catch(() => false)) return;
    await sleep(PAUSE_MS);
  }
}
