import { setTimeout as sleep } from 'node:timers/promises';
import { check, isQuiet } from './reconcile/check.js';
import { ask, gather, type Sources } from './reconcile/gather.js';
import type { Witnesses } from './reconcile/witnesses.js';

/*
 * Holds four witnesses against one another: the sandbox's books, the executions in Temporal, the claims and the inbox.
 * It shares no code with the product: plain HTTP, SQL and arithmetic of its own (test/architecture holds it to that).
 */

/** How long flows, events and callbacks may take to come to rest; what still moves then is a violation. */
const PATIENCE_MS = 20_000;

/** The witnesses when nothing moves any more, or when patience ends. */
export async function atRest(sources: Sources, patienceMs = PATIENCE_MS): Promise<Witnesses> {
  const endsAtMs = performance.now() + patienceMs;
  for (;;) {
    const { deliveries } = await ask<{ deliveries: Record<string, number> }>(sources.sandboxUrl, '/state');
    const witnesses = await gather(sources);
    if (((deliveries['pending'] ?? 0) === 0 && isQuiet(witnesses)) || performance.now() > endsAtMs) return witnesses;
    await sleep(200);
  }
}

/**
 * Invariants I1 to I8 of everything that a stack has done so far.
 * @throws Error that names every violation
 */
export async function reconcile(sources: Sources, patienceMs?: number): Promise<Witnesses> {
  const witnesses = await atRest(sources, patienceMs);
  const found = check(witnesses);
  if (found.length > 0) throw new Error(['The reconciler found:', ...found.map(describe)].join('\n'));
  return witnesses;
}

const describe = ({ invariant, what }: { invariant: string; what: string }) => `  ${invariant}: ${what}`;

/** How many flows are in each state. */
export function byState({ flows }: Pick<Witnesses, 'flows'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of flows) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
