import { setTimeout as sleep } from 'node:timers/promises';
import { check, isQuiet } from './reconcile/check.js';
import { ask, createFlowLookup, gather, withOverdue, type Sources } from './reconcile/gather.js';
import { readStore } from './reconcile/read-store.js';
import type { FlowFact, Witnesses } from './reconcile/witnesses.js';

/*
 * Compares five witnesses: the sandbox's books, the executions in Temporal, the claims, the inbox, and what the driver
 * wrote down before each request, plus the requests on the wire to the service. It shares no code with the product:
 * plain HTTP, SQL and arithmetic of its own (`reconcile.test.ts` checks that).
 */

/**
 * How long flows, events and callbacks may take to come to rest; what still moves then is a violation. A flow that
 * could not be queried in a slow moment is queried again after up to a minute.
 */
const PATIENCE_MS = 75_000;

/**
 * Of everything that a stack has done so far: waits until nothing moves any more (or patience ends), and checks it all.
 * @throws Error that names every violation
 */
export function createReconciler(sources: Sources, patienceMs = PATIENCE_MS): () => Promise<Witnesses> {
  const flowsAtRest = createRest(sources, patienceMs);
  return async () => {
    const witnesses = await gather(sources, await flowsAtRest());
    const found = check(witnesses);
    if (found.length > 0) throw new Error(['The reconciler found:', ...found.map(describe)].join('\n'));
    return witnesses;
  };
}

/** The flows, as soon as nothing moves any more, or when patience ends. */
export function createRest(sources: Sources, patienceMs: number): () => Promise<readonly FlowFact[]> {
  const lookUpFlows = createFlowLookup(sources);
  return async () => {
    const endsAtMs = performance.now() + patienceMs;
    for (;;) {
      const { deliveries } = await ask<{ deliveries: Record<string, number> }>(sources.sandboxUrl, '/state');
      const flows = await lookUpFlows();
      const { inbox } = await readStore(sources.storePath, sources.payloadKeys);
      const rests = (deliveries['pending'] ?? 0) === 0 && isQuiet({ flows, inbox });
      if (rests) return flows;
      if (performance.now() > endsAtMs) return Promise.all(flows.map((flow) => withOverdue(sources, flow)));
      await sleep(200);
    }
  };
}

/** For callers that reconcile only once. */
export const reconcile = (sources: Sources, patienceMs?: number): Promise<Witnesses> =>
  createReconciler(sources, patienceMs)();

const describe = ({ invariant, what }: { invariant: string; what: string }) => `  ${invariant}: ${what}`;

/** How many flows are in each state. */
export function byState({ flows }: Pick<Witnesses, 'flows'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of flows) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
