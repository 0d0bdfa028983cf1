import type { ActivityDeps } from './deps.js';
import type { Windows } from './outcomes.js';

/** How much longer than our own timeout an unknown POST is looked up: a slow service may commit after we gave up. */
const SETTLE_MARGIN_MS = 60_000;
/** For the claim before a POST and for its answer's row after it, so that the client's own timeout speaks first. */
const ATTEMPT_MARGIN_MS = 30_000;
const SHORTEST_ATTEMPT_MS = 120_000;

/** The durations of a flow that the settings decide. */
export function windowsOf({ serviceTimeoutMs, serviceIsOnLoopback, limits }: ActivityDeps): Windows {
  return {
    settleMs: serviceTimeoutMs + SETTLE_MARGIN_MS,
    attemptMs: Math.max(SHORTEST_ATTEMPT_MS, serviceTimeoutMs + ATTEMPT_MARGIN_MS),
    ...(serviceIsOnLoopback ? limits : {}),
  };
}
