import type { FlowEvent } from '../../src/flows/messages.js';
import type { Facts } from '../steps/facts.js';
import { cryptoWasPaid, type SeenStatuses } from './statuses.js';

interface Failed {
  readonly failure: FlowEvent | null;
  readonly statuses: SeenStatuses;
}

/** Known as soon as any trusted event told it, whatever came before or after. */
export function refundIsDue({ failure, statuses }: Failed): boolean {
  return cryptoWasPaid(statuses) || owesRefund(failure?.facts ?? {});
}

/** A FAILED that announces a refund, or comes after the crypto was paid: a settlement can fail only then. */
export function owesRefund(facts: Facts): boolean {
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
