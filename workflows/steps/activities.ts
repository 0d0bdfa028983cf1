import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { requireDecoded } from '../../src/temporal/plaintext-marker.js';

/** Activities under a policy, with the one line that the Temporal UI shows for the step. */
export function act(policy: ActivityOptions, summary: string, timeScale = 1): Activities {
  const activities = proxyActivities<Record<string, (argument: unknown) => Promise<unknown>>>({
    ...scaledRetries(policy, timeScale),
    summary,
  });
  return new Proxy({} as Activities, {
    // A result that does not open must never be taken for an answer.
    get: (_, name) => async (argument: unknown) => requireDecoded(await activities[String(name)]?.(argument)),
  });
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
