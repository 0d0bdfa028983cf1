import type { ParkAction, ParkReason } from '../../src/protocol/vocabulary.js';
import type { Flow } from '../engine/flow.js';
import type { GuardedClaim, Resolution } from '../engine/messages.js';
import { endFromDecision } from '../engine/flow-end.js';
import { park, type ParkOptions } from '../engine/park.js';
import { closeByOrder } from '../engine/stop.js';
import { orderRefusal } from './order-refusal.js';
import { refundReferenceOf } from './refund-terms.js';
import { bridgeState, brief, endEvidence, isRefunded, type Transfer } from './transfer.js';

/** A person's last word on a transfer: after it no refund is sent, not even after a reset of the flow. */
const ENDS: readonly ParkAction[] = ['mark-completed', 'mark-refunded', 'mark-failed', 'close-without-refund'];

/**
 * Asks a person about a transfer, until an order can be carried out or what comes decides. Every order is judged by what is
 * proven when it is carried out. Past a failure the right to send a refund ends with a person's last word.
 *
 * @param evidence as it is whenever the transfer is shown
 */
export async function askAbout(
  flow: Flow,
  transfer: Transfer,
  reason: ParkReason,
  evidence: () => Readonly<Record<string, unknown>>,
  decided: () => boolean = () => false,
): Promise<Resolution | 'decided'> {
  for (;;) {
    const decision = await park(flow, reason, evidence(), decided, judging(flow, transfer));
    if (decision !== 'decided' || decided()) return decision;
  }
}

/** How an order about the transfer, as it is shown now, is judged. */
function judging(flow: Flow, transfer: Transfer): Pick<ParkOptions, 'refusalOf' | 'secure'> {
  const shown = endEvidence(transfer).proven;
  return {
    refusalOf: ({ action }) => orderRefusal(action, endEvidence(transfer).proven, shown),
    secure: async (order) =>
      mayBeRefunded(transfer) && ENDS.includes(order.action) ? closeRefund(flow, transfer, order) : null,
  };
}

const mayBeRefunded = (transfer: Transfer): boolean =>
  transfer.failure !== null || bridgeState(transfer).kind === 'conflict';

function closeRefund(flow: Flow, { pin }: Transfer, order: Resolution): Promise<string | null> {
  const { reference, flowId } = flow;
  const claim: GuardedClaim = {
    operation: 'sendCrypto',
    reference: refundReferenceOf(reference),
    flowId,
    fingerprint: '',
    pin,
  };
  return closeByOrder(flow, claim, order);
}

function whyConflict(transfer: Transfer): string {
  if (bridgeState(transfer).kind === 'conflict') return 'trusted events prove endings that exclude one another';
  if (isRefunded(transfer))
    return 'a refund by us may have been sent, and the service says that it was refunded: look at both';
  return 'an unverified event claims another ending than the one that is proven';
}

/** What is proven or claimed excludes one another: a person says how it ended. */
export async function decideConflict(flow: Flow, transfer: Transfer): Promise<never> {
  const evidence = () => ({
    proven: transfer.statuses.seen,
    ...(transfer.unverified.length === 0 ? {} : { claimed: transfer.unverified.map(brief) }),
    ...(transfer.ownRefund === null ? {} : { ownRefund: transfer.ownRefund }),
    why: whyConflict(transfer),
  });
  return endFromDecision(await askAbout(flow, transfer, 'conflict', evidence));
}
