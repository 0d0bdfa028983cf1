import { condition } from '@temporalio/workflow';
import type { Cause } from '../../src/protocol/causes.js';
import type { Outcome } from '../../src/protocol/messages.js';
import { decideMismatch } from '../engine/evidence.js';
import { endFromDecision } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { askAbout } from '../engine/park.js';
import { STORE_PATIENCE_MS } from '../engine/policies.js';
import { voidNeverSent, voidTurnedAway } from '../engine/stop.js';
import { AT_LEAST_MS, observed } from '../engine/waits.js';
import { conflictEvidence, decideConflict } from './conflict.js';
import { reportPending } from './report.js';
import { isRefunded, refundClaim, rulesOf, type Transfer } from './transfer.js';

export function refunded(detail: string): Outcome {
  return { state: 'refunded', reason: null, detail };
}

/**
 * Not certain if an earlier run, before a reset in the UI, may have sent a refund of ours: then there are two. While the
 * store cannot say that, a person is asked, and the store goes on being asked.
 */
export async function refundedElsewhere(flow: Flow, transfer: Transfer): Promise<Outcome> {
  const claim = refundClaim(flow, transfer);
  const voiding = observed(async () => {
    const phase = await voidNeverSent(flow, claim, BY_THEM);
    return phase === 'reserved' ? voidTurnedAway(flow, claim, BY_THEM) : phase;
  });
  const isContradicted = () => !isRefunded(transfer) || transfer.mismatches.length > 0;
  const isKnown = () => voiding.settled() || isContradicted();
  await condition(isKnown, Math.max(AT_LEAST_MS, flow.scaled(STORE_PATIENCE_MS)));
  if (!isKnown()) {
    const evidence = () => conflictEvidence(transfer, OWN_REFUND_UNKNOWN);
    const decision = await askAbout(flow, 'conflict', evidence, isKnown);
    if (decision !== 'decided') {
      voiding.cancel();
      return endFromDecision(decision);
    }
  }
  if (isContradicted()) {
    voiding.cancel();
    if (transfer.mismatches.length === 0) return decideConflict(flow, transfer);
    await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    return isRefunded(transfer) ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
  }
  const phase = await voiding.promise;
  if (phase === 'void' || phase === 'rejected') return refundedByThem(flow, transfer);
  transfer.ownRefund = claim.reference;
  return decideConflict(flow, transfer);
}

const OWN_REFUND_UNKNOWN: Cause = {
  code: 'own_refund_unknown',
  text: 'the store cannot say now whether we sent a refund, too',
};
const BY_THEM = 'refunded by the service or the provider';

export async function refundedByThem(flow: Flow, transfer: Transfer): Promise<Outcome> {
  while (transfer.toReport !== null) await reportPending(flow, transfer);
  return refunded('The service or the provider refunded it.');
}
