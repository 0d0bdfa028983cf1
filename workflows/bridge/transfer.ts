import type { BridgeDepositAnswer, Pin, Quote, Windows, ClaimRef, Facts } from '../../activities/types.js';
import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { ENDINGS, endingsOf, endStep, refusedStep, type EndEvidence } from '../../src/protocol/decisions.js';
import { isUnread, UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { classifyOfAnyKind } from '../../src/protocol/statuses.js';
import { readHash } from '../../src/readers/hash.js';
import { readReference } from '../../src/readers/reference.js';
import { refundReferenceOf } from '../../src/protocol/vocabulary.js';
import type { Evidence } from '../engine/event-book.js';
import type { Flow, FlowCarried } from '../engine/flow.js';
import { handleEvents, whoSays, type EventRules, differences } from '../engine/evidence.js';
import {
  asBridgeStatus,
  endingsSeen,
  foldStatus,
  isEnding,
  NOTHING_SEEN,
  rises,
  bridgeStateOf,
  type BridgeState,
  type SeenStatuses,
} from './statuses.js';
import { factsTogether, fundsHeld, refundBegun, saysPaid, theirRefundIn } from './refund-due.js';
import { mostToRefund, smallest } from './came-in.js';

/** One bridge transfer in progress. `TransferCarried` is the part that travels through continue-as-new. */
export interface Transfer extends Evidence {
  readonly input: BridgeTransferInput;
  readonly fingerprint: string;
  readonly pin: Pin;
  readonly windows: Windows;
  /** What the deposit's request fixes, as its answer may repeat it. */
  readonly fixed: Facts;
  quote: TimedQuote;
  /** The quote that the caller agreed to, with which new ones are compared. */
  readonly agreed: Quote;
  /** Null until the deposit's answer is known; stays null if only events proved it. */
  deposit: BridgeDepositAnswer | null;
  statuses: SeenStatuses;
  /** The first trusted FAILED event, with the facts of all of them, for the refund. */
  failure: FlowEvent | null;
  /**
   * The smallest amounts of crypto in trusted or accepted events, as decimal strings: no more is sent back. And when it
   * came in, if one of them says that.
   */
  cameIn: Facts;
  /** What trusted or accepted events say of the service's own refund. */
  theirRefund: Facts;
  /** Reference of a refund by us that may have been sent: a REFUNDED of the service may then be a second one. */
  ownRefund: string | null;
  /** The facts of the trusted or accepted COMPLETED. */
  completion: Facts;
  /** Workflow time of the first one, ms. */
  failedAtMs: number | null;
  /**
   * The provider's trusted ending that is yet to be reported to the service; the highest one. A status on the way is not
   * reported: an attempt to report it can reach the service after the ending, and would set it back.
   */
  toReport: FlowEvent | null;
  /** Statuses that the service knows, from its own events or from our reports. */
  serviceKnows: SeenStatuses;
}

export interface TransferCarried {
  readonly flow: FlowCarried;
  readonly transfer: Transfer;
}

/** Everything that is known about the ending of a transfer. */
export function endEvidence(transfer: Transfer): EndEvidence {
  const claims = transfer.unverified.flatMap(claimsOf);
  return {
    proven: endingsSeen(transfer.statuses),
    claimed: ENDINGS.filter((ending) => claims.includes(ending.toUpperCase())),
    fundsHeld: fundsHeld(transfer),
  };
}

/** An event that says that the service's own refund has begun claims that, too. */
function claimsOf(event: FlowEvent): readonly string[] {
  const word = event.status ?? '';
  return refundBegun(theirRefundIn(event)) ? [word, 'REFUNDED'] : [word];
}

/** Whether an untrusted event forbids that a proven failure, or a refused deposit, ends the flow as failed. */
export function isVetoed(transfer: Transfer, isRefused = false): boolean {
  const claimed = endingsOf(transfer.unverified.map(({ status }) => classifyOfAnyKind(status)));
  const isUnclear = transfer.unverified.some(({ facts }) => isUnread(facts));
  if (isRefused && (isUnclear || refusedStep(claimed).do === 'park')) return true;
  const failed = { ...transfer, unverified: [] };
  const stepOf = (known: Transfer) => endStep(endEvidence(known));
  return stepOf(failed).do === 'end' && stepOf(transfer).do !== stepOf(failed).do;
}

/** It failed, and no refund is due or made by anyone. */
export function owesNothing(transfer: Transfer): boolean {
  const step = endStep(endEvidence(transfer));
  return step.do === 'end' && step.as === 'failed' && transfer.mismatches.length === 0;
}

/** What an untrusted event says besides its ending against what we would do by ourselves, and no trusted one says. */
function claimsBesides(transfer: Transfer, event: FlowEvent): readonly string[] {
  const { input, cameIn, theirRefund } = transfer;
  const held = fundsHeld({ ...transfer, unverified: [] });
  const theirs = smallest(cameIn, event.facts);
  return [
    ...(isUnread(event.facts) ? ['anything: it cannot be read'] : []),
    ...(refundBegun(theirRefundIn(event)) && !refundBegun(theirRefund) ? ['refund begun'] : []),
    ...(saysPaid(event) && held !== 'shown' ? ['paid'] : []),
    ...(mostToRefund(input, theirs) === mostToRefund(input, cameIn) ? [] : ['less came in']),
  ];
}

/** By the service or the provider. */
export function isRefunded(transfer: Transfer): boolean {
  const now = bridgeState(transfer);
  return now.kind === 'ended' && now.ending === 'REFUNDED';
}

/** A person may have accepted a COMPLETED of another amount: then the sentence names the figures. */
export function whatArrived({ input, completion }: Pick<Transfer, 'input' | 'completion'>): string {
  const { amount, currency } = input.settlement;
  // A bare amount is the recipient's if it is in that currency, and the customer pays in another one.
  const isBare = completion['currency'] === currency && input.source_currency !== currency;
  const arrived = completion['settlementAmount'] ?? (isBare ? completion['amount'] : undefined) ?? amount;
  const paidIn = completion['settlementCurrency'] ?? currency;
  if (paidIn === currency && arrived === amount) return 'The recipient was paid.';
  const figures =
    paidIn === currency ? `${arrived} of ${amount} ${currency}` : `${arrived} ${paidIn}, not ${amount} ${currency}`;
  return `The recipient was paid ${figures}.`;
}

export function bridgeState(transfer: Transfer): BridgeState {
  return bridgeStateOf(transfer.statuses);
}

/** How events act on a transfer. Pure of commands: it runs inside signal handlers. */
export function rulesOf(flow: Flow, transfer: Transfer): EventRules {
  const { input } = transfer;
  const known = () =>
    knownFacts(input, {
      serviceReference: flow.serviceReference,
      paymentHash: transfer.deposit?.paymentHash ?? null,
    });
  return {
    known,
    shown: () => ({
      ...known(),
      amount: `${input.amount} ${input.source_currency}, ${input.settlement.amount} ${input.settlement.currency}`,
    }),
    differs: (event) => [
      ...(isUnread(event.facts) ? ['body'] : []),
      ...differences(known(), event.facts),
      ...(amountDiffers(input, event.facts) ? ['amount'] : []),
    ],
    seen: (event) => transfer.statuses.seen.some((status) => status === event.status),
    claims: (event) => claimsBesides(transfer, event),
    apply: (event) => apply(flow, transfer, event),
  };
}

export function handleTransferEvents(flow: Flow, transfer: Transfer): void {
  handleEvents(flow, transfer, rulesOf(flow, transfer));
}

function apply(flow: Flow, transfer: Transfer, event: FlowEvent): boolean {
  transfer.cameIn = smallest(transfer.cameIn, event.facts);
  transfer.theirRefund = factsTogether(transfer.theirRefund, theirRefundIn(event));
  const status = asBridgeStatus(event.status);
  if (status === undefined) {
    flow.note('status-unknown', `unknown status ${event.status ?? '(none)'} kept; it is not final`, whoSays(event));
    return true;
  }
  const isNew = !transfer.statuses.seen.includes(status);
  transfer.statuses = foldStatus(transfer.statuses, status);
  if (event.source !== 'settlement') transfer.serviceKnows = foldStatus(transfer.serviceKnows, status);
  else if (isEnding(status) && rises(transfer.serviceKnows, status))
    transfer.toReport = higher(transfer.toReport, event);
  if (status === 'COMPLETED') transfer.completion = { ...event.facts, ...transfer.completion };
  const saysMore = status === 'FAILED' && learnFailure(transfer, event);
  if (!isNew && !saysMore) return false;
  flow.note('event-applied', `${status} (${event.proof ?? 'trusted'})`, whoSays(event));
  return true;
}

/**
 * A bare callback may overtake the provider's FAILED, which reports the refund. True if this one adds something new.
 */
function learnFailure(transfer: Transfer, event: FlowEvent): boolean {
  const before = transfer.failure;
  const facts = factsTogether(before?.facts ?? {}, event.facts);
  transfer.failedAtMs ??= Date.now();
  transfer.failure = { ...(before ?? event), facts };
  return before === null || Object.entries(facts).some(([name, fact]) => before.facts[name] !== fact);
}

function higher(before: FlowEvent | null, event: FlowEvent): FlowEvent {
  if (before === null) return event;
  const both = foldStatus(foldStatus(NOTHING_SEEN, asBridgeStatus(before.status)!), asBridgeStatus(event.status)!);
  return both.seen.at(-1) === event.status ? event : before;
}

/** The claim of its deposit. */
export function depositClaim({ reference, flowId }: Flow, { fingerprint, pin }: Transfer): ClaimRef {
  return { operation: 'createBridgeDeposit', reference, flowId, fingerprint, pin };
}

/** The claim of a refund by us whose amount is not decided yet. */
export function refundClaim({ reference, flowId }: Flow, { pin }: Transfer): ClaimRef {
  return { operation: 'sendCrypto', reference: refundReferenceOf(reference), flowId, fingerprint: '', pin };
}

/** What we know about a transfer, in the words of an event's facts. */
export function knownFacts(
  input: BridgeTransferInput,
  deposit: { serviceReference: string | null; paymentHash: string | null },
): Facts {
  const facts: Record<string, string> = {
    chain: input.chain,
    token: input.token,
    settlementAmount: input.settlement.amount,
    settlementCurrency: input.settlement.currency,
  };
  const serviceReference = readReference(deposit.serviceReference);
  const paymentHash = readHash(input.crypto_payment.payment_hash ?? deposit.paymentHash);
  if (serviceReference !== undefined) facts['serviceReference'] = serviceReference;
  if (paymentHash !== undefined) facts['paymentHash'] = paymentHash;
  if (input.crypto_payment.crypto_amount !== undefined) facts['cryptoAmount'] = input.crypto_payment.crypto_amount;
  if (input.crypto_payment.amount_msat !== undefined) facts['amountMsat'] = input.crypto_payment.amount_msat;
  return facts;
}

/**
 * An event's bare `amount` and `currency` may mean the fiat that the customer pays or the fiat that the recipient gets:
 * they are compared with the side whose currency they name, and with neither if both sides have that currency.
 */
export function amountDiffers(input: BridgeTransferInput, facts: Facts): boolean {
  const { amount, currency } = facts;
  if (amount === undefined || currency === undefined) return false;
  if (currency === UNREADABLE) return true;
  const candidates = [
    ...(currency === input.source_currency ? [input.amount] : []),
    ...(currency === input.settlement.currency ? [input.settlement.amount] : []),
  ];
  return candidates.length > 0 && !candidates.includes(amount);
}

/** A quote with the workflow time at which its life begins. */
export interface TimedQuote extends Quote {
  readonly quotedAtMs: number;
}
