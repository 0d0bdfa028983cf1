import { eventsAccountedFor } from './events.js';
import {
  allAccountedFor,
  executedOnce,
  noContradiction,
  noneOverdue,
  noOrphansNoPhantoms,
  parkedAsExpected,
} from './flows-and-service.js';
import { booksBalance, refundedOnce } from './money.js';
import { asOrdered } from './terms.js';
import { asSeenOnTheWire } from './wire.js';
import type { Violation, Witnesses } from './witnesses.js';

/** Checks I1 to I8 and I12 to I15 on the witnesses. */
export function check(witnesses: Witnesses): readonly Violation[] {
  return [
    executedOnce,
    allAccountedFor,
    noneOverdue,
    booksBalance,
    refundedOnce,
    eventsAccountedFor,
    noContradiction,
    noOrphansNoPhantoms,
    parkedAsExpected,
    asOrdered,
    asSeenOnTheWire,
  ].flatMap((invariant) => invariant(witnesses));
}

/** Whether it is worth checking: nothing is under way any more. An event that has no flow yet is still to be matched. */
export function isQuiet(witnesses: Pick<Witnesses, 'flows' | 'inbox'>): boolean {
  const known = new Set(witnesses.flows.map(({ flowId }) => flowId));
  return (
    witnesses.flows.every(({ state }) => state !== 'running') &&
    witnesses.inbox.every(
      ({ flowId, state }) => (flowId !== null && !known.has(flowId)) || !['waiting', 'delivered'].includes(state),
    )
  );
}
