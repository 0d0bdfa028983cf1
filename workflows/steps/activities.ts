import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';

/** Activities under a policy, with the one line that the Temporal UI shows for the step. */
export function act(policy: ActivityOptions, summary: string, timeScale = 1): Activities {
  return proxyActivities<Activities>({ ...scaledRetries(policy, timeScale), summary });
}

/** Retry delays are waits of our own: they scale. Timeouts of a single call belong to the network: they do not. */
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
