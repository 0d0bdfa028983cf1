import type { Evidence } from '../../src/protocol/decisions.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import type { Facts } from '../engine/evidence.js';
import { cryptoWasPaid, type SeenStatuses } from './statuses.js';

/**
 * Stages before the service pays the crypto: what fails in one of them owes no refund of it. Whole words, since the last
 * leg pays fiat out: "fiat_payout" is no early stage. Any other word decides nothing.
 */
const BEFORE_PAYMENT = /^(deposit|deposit_initiated|fiat_deposit|fiat_collection|collection|quote|rate|kyc)$/i;

interface Failed {
  readonly failure: FlowEvent | null;
  readonly statuses: SeenStatuses;
}

/**
 * Whether the crypto was paid to us, so that a failure owes it back. Shown as soon as any trusted event said so,
 * whatever came before or after; absent only if the failure names a stage before the payment. The event that reported the
 * payment may be lost.
 */
export function fundsHeld({ failure, statuses }: Failed): Evidence {
  const facts = failure?.facts ?? {};
  if (cryptoWasPaid(statuses) || owesRefund(facts)) return 'shown';
  return BEFORE_PAYMENT.test(facts['failureStage'] ?? '') ? 'absent' : 'cannot-tell';
}

/** A FAILED that announces a refund, or comes after the crypto was paid: a settlement can fail only then. */
function owesRefund(facts: Facts): boolean {
  return (
    facts['refundAnnounced'] === 'true' ||
    facts['cryptoReceivedAt'] !== undefined ||
    /^settl/i.test(facts['failureStage'] ?? '')
  );
}

/** The facts of two FAILED events together; where they contradict one another, those that owe the customer a refund. */
export function factsTogether(first: Facts, second: Facts): Facts {
  return owesRefund(second) && !owesRefund(first) ? { ...first, ...second } : { ...second, ...first };
}
