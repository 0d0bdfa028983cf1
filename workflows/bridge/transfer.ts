import type { BridgeDepositAnswer } from '../../activities/bridge-terms.js';
import type { Quote, Windows } from '../../activities/outcomes.js';
import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import type { EventFate, FlowEvent } from '../../src/flows/messages.js';
import type { Flow, FlowCarried } from '../steps/flow.js';
import { amountDiffers, differences, knownFacts } from './match.js';
import {
  asBridgeStatus,
  foldStatus,
  NOTHING_SEEN,
  rises,
  standingOf,
  type BridgeStanding,
  type SeenStatuses,
} from './statuses.js';

/** A quote with the workflow time from which its life counts. */
export interface TimedQuote extends Quote {
  readonly quotedAtMs: number;
}

/** One bridge transfer in the making. What of it travels through continue-as-new is `TransferCarried`. */
export interface Transfer {
  readonly input: BridgeTransferInput;
  readonly fingerprint: string;
  readonly windows: Windows;
  quote: TimedQuote;
  /** The quote that the caller agreed to, with which new ones are compared; null where its figures are not known. */
  readonly agreed: Quote | null;
  /** Null until the deposit's answer is known; stays null where only events proved it. */
  deposit: BridgeDepositAnswer | null;
  /** Any trusted event proves that the service has the deposit. */
  proven: boolean;
  statuses: SeenStatuses;
  /** The trusted FAILED event's facts, for the refund. */
  failure: FlowEvent | null;
  /** Workflow time of that event, ms. */
  failedAtMs: number | null;
  /** Untrusted events with a terminal status: shown, and never acted on alone. */
  unverified: readonly FlowEvent[];
  /** Trusted events that differ from what we know, until a person decided. */
  mismatches: readonly { readonly event: FlowEvent; readonly differs: readonly string[] }[];
  /** The provider's trusted settlement that the service has yet to hear of; the highest one. */
  toReport: FlowEvent | null;
  /** Statuses that the service knows, from its own events or from our reports. */
  serviceKnows: SeenStatuses;
}

export interface TransferCarried {
  readonly flow: FlowCarried;
  readonly transfer: Transfer;
}

export function standing(transfer: Transfer): BridgeStanding {
  return standingOf(transfer.statuses);
}

/** Lets the flow's events act on the transfer from now on; those that came early are taken first, in order. */
export function hearEvents(flow: Flow, transfer: Transfer): void {
  flow.book.absorbWith((event) => absorb(flow, transfer, event));
}

function absorb(flow: Flow, transfer: Transfer, event: FlowEvent): EventFate {
  const by = event.source === 'settlement' ? 'provider' : 'service';
  const said = event.status ?? '(no status)';
  if (!event.trusted) return keepUnverified(flow, transfer, event, by);
  const differs = differencesOf(flow, transfer, event);
  if (differs.length > 0) {
    transfer.mismatches = [...transfer.mismatches, { event, differs }];
    flow.note(`${said} differs from what we know in: ${differs.join(', ')}`, by);
    return 'conflicting';
  }
  return apply(flow, transfer, event);
}

/** Takes a trusted event that matches, or one that a person vouched for. */
export function apply(flow: Flow, transfer: Transfer, event: FlowEvent): EventFate {
  const by = event.source === 'settlement' ? 'provider' : 'service';
  const status = asBridgeStatus(event.status);
  transfer.proven = true;
  flow.serviceReference ??= event.facts['serviceReference'] ?? null;
  if (status === undefined) {
    flow.note(`unknown status ${event.status ?? '(none)'} kept; it is not final`, by);
    return 'applied';
  }
  const repeated = transfer.statuses.seen.includes(status);
  transfer.statuses = foldStatus(transfer.statuses, status);
  if (event.source !== 'settlement') transfer.serviceKnows = foldStatus(transfer.serviceKnows, status);
  else if (rises(transfer.serviceKnows, status)) transfer.toReport = higher(transfer.toReport, event);
  corroborate(flow, transfer, event);
  if (repeated) return 'duplicate';
  if (status === 'FAILED') {
    transfer.failure = event;
    transfer.failedAtMs = Date.now();
  }
  flow.note(`${status} (${event.proof ?? 'trusted'})`, by);
  return 'applied';
}

function keepUnverified(flow: Flow, transfer: Transfer, event: FlowEvent, by: string): EventFate {
  const status = asBridgeStatus(event.status);
  if (
    status !== undefined &&
    transfer.statuses.seen.includes(status) &&
    differencesOf(flow, transfer, event).length === 0
  ) {
    return 'duplicate';
  }
  // Anyone may post these: only the first few are kept and told, so that forgeries cannot fill the history.
  if (transfer.unverified.length < 20) {
    transfer.unverified = [...transfer.unverified, event];
    flow.note(`unverified ${event.status ?? '(no status)'}: kept, moves nothing`, by);
  }
  return 'unverified';
}

/** A trusted event with the same status makes the unverified ones that match it more than a claim. */
function corroborate(flow: Flow, transfer: Transfer, event: FlowEvent): void {
  for (const earlier of transfer.unverified) {
    if (earlier.status === event.status && differencesOf(flow, transfer, earlier).length === 0) {
      flow.book.settle(earlier.id, 'duplicate');
    }
  }
  transfer.unverified = transfer.unverified.filter((earlier) => flow.book.fates()[earlier.id] !== 'duplicate');
}

function differencesOf(flow: Flow, transfer: Transfer, event: FlowEvent): readonly string[] {
  const known = knownFacts(transfer.input, {
    serviceReference: flow.serviceReference,
    paymentHash: transfer.deposit?.paymentHash ?? null,
  });
  return [...differences(known, event.facts), ...(amountDiffers(transfer.input, event.facts) ? ['amount'] : [])];
}

function higher(before: FlowEvent | null, event: FlowEvent): FlowEvent {
  if (before === null) return event;
  const both = foldStatus(foldStatus(NOTHING_SEEN, asBridgeStatus(before.status)!), asBridgeStatus(event.status)!);
  return both.seen.at(-1) === event.status ? event : before;
}
