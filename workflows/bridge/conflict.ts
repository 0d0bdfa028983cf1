import { shownCause, type Cause } from '../../src/protocol/causes.js';
import type { Flow } from '../engine/flow.js';
import { endFromDecision } from '../engine/flow-end.js';
import { askPerson } from '../engine/park.js';
import { brief } from '../engine/event-book.js';
import { bridgeState, isRefunded, type Transfer } from './transfer.js';

/** Proofs or claims contradict one another: a person decides how it ended. */
export async function decideConflict(flow: Flow, transfer: Transfer): Promise<never> {
  return endFromDecision(await askPerson(flow, 'conflict', () => conflictEvidence(transfer, whyConflict(transfer))));
}

/** For a person's eyes. */
export const conflictEvidence = (transfer: Transfer, why: Cause) => ({
  proven: transfer.statuses.seen,
  ...(transfer.unverified.length === 0 ? {} : { claimed: transfer.unverified.map(brief) }),
  ...(transfer.ownRefund === null ? {} : { ownRefund: transfer.ownRefund }),
  ...shownCause(why),
});

function whyConflict(transfer: Transfer): Cause {
  if (bridgeState(transfer).kind === 'conflict') {
    return { code: 'proofs_exclude_one_another', text: 'trusted events prove endings that exclude one another' };
  }
  if (isRefunded(transfer)) {
    const text = 'a refund by us may have been sent, and the service says that it was refunded: look at both';
    return { code: 'refunded_twice_maybe', text };
  }
  const text = 'an unverified event claims another ending than the one that is proven';
  return { code: 'unverified_event_against_it', text };
}

/** Something came that decides, or that a person has to decide. */
export const isDecided = (transfer: Transfer) => () =>
  bridgeState(transfer).kind === 'conflict' || isRefunded(transfer) || transfer.mismatches.length > 0;
