import {
  isCancellation,
  proxyLocalActivities,
  TemporalFailure,
  proxyActivities,
  type ActivityOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { PreparationOrder } from '../../activities/types.js';
import type { Activities } from '../../activities/index.js';
import { requireDecoded } from '../../src/protocol/plaintext-marker.js';
import { queueOfActivity, taskQueueOf } from '../../src/protocol/task-queues.js';
import { RESUMED } from '../../src/protocol/vocabulary.js';
import { CHECK } from './policies.js';

/** The order to a flow's first activity. */
export function preparationOf(flow: { readonly flowId: string }, input: unknown): PreparationOrder {
  const fingerprint = workflowInfo().memo?.['fingerprint'];
  const startedWith = typeof fingerprint === 'string' ? fingerprint : null;
  return { flowId: flow.flowId, input, wasReset: wasReset(), startedWith };
}

/**
 * An earlier run of the flow may have sent, before a reset in the UI, or before it was resumed. Also true in a run that
 * continues another one. The mark counts whatever it says, since it is not sealed: who forges it makes the flow careful.
 */
export function wasReset(): boolean {
  const { runId, firstExecutionRunId, memo } = workflowInfo();
  return runId !== firstExecutionRunId || memo?.[RESUMED] !== undefined;
}

/** What the run before this one hands on. A first run has none: who starts a flow brings its input, and no state of it. */
export const handedOn = <Carried>(carried: Carried | undefined): Carried | undefined =>
  workflowInfo().continuedFromExecutionRunId === undefined ? undefined : carried;

type Checks = Pick<Activities, 'checkFlow' | 'checkBridgeTransfer'>;

/**
 * Runs a check on the worker that currently runs the flow: one step less on the way to the service's answer. One brief
 * attempt; if that fails, `otherwise` decides, the ordinary activity, which the server retries. It may run twice, and
 * so is never used for what moves money.
 */
export async function checkAtOnce<Name extends keyof Checks>(
  name: Name,
  argument: Parameters<Checks[Name]>[0],
  otherwise: () => ReturnType<Checks[Name]>,
): Promise<Awaited<ReturnType<Checks[Name]>>> {
  // Bounded by CHECK: one attempt of two seconds.
  const local = proxyLocalActivities<Record<string, (argument: unknown) => Promise<unknown>>>(CHECK);
  try {
    return requireDecoded(await local[name]?.(argument)) as Awaited<ReturnType<Checks[Name]>>;
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return await otherwise();
  }
}

/**
 * Activities under a policy, with the one line that the Temporal UI shows for the step; each on its own task queue,
 * unless the policy names another.
 */
export function act(policy: ActivityOptions, summary: string, timeScale = 1): Activities {
  // Bounded by its callers: each call of act has a bound of its own.
  const activity = (name: string) =>
    proxyActivities<Record<string, (argument: unknown) => Promise<unknown>>>({
      taskQueue: taskQueueOf(workflowInfo().taskQueue, queueOfActivity(name)),
      ...scaledRetries(policy, timeScale),
      summary,
    })[name];
  return new Proxy({} as Activities, {
    // A result that cannot be decrypted must never be taken for an answer.
    get: (_, name) => async (argument: unknown) => requireDecoded(await activity(String(name))?.(argument)),
  });
}

/**
 * Retry delays are waits of our own, so they scale. Timeouts of a single call depend on the network, so they do not.
 */
function scaledRetries(policy: ActivityOptions, timeScale: number): ActivityOptions {
  if (timeScale === 1 || policy.retry === undefined) return policy;
  const scaled = (value: unknown) => Math.max(20, Math.ceil(Number(value) * timeScale));
  return {
    ...policy,
    retry: {
      ...policy.retry,
      initialInterval: scaled(policy.retry.initialInterval),
      maximumInterval: scaled(policy.retry.maximumInterval),
    },
  };
}
