import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';
import type { ClaimRef, SubmitOutcome } from '../../activities/types.js';
import { shownCause, type Cause } from '../../src/protocol/causes.js';
import { contradictsFailure, endStep, refundRefusal, type TrustedSay } from '../../src/protocol/decisions.js';
import type { Outcome } from '../../src/protocol/messages.js';
import { act } from '../engine/activities.js';
import { endFromDecision, endFlow } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { REFUND_WAIT_MS, SUBMIT, submitPolicy } from '../engine/policies.js';
import { decideMismatch, reviewedOrKept } from '../engine/evidence.js';
import { brief } from '../engine/event-book.js';
import { readInbox } from '../engine/inbox.js';
import { askAbout } from '../engine/park.js';
import { holdBack } from '../engine/stop.js';
import { submit } from '../engine/submit.js';
import { refundBegun, shownBeginning } from './refund-due.js';
import { decideConflict, isDecided } from './conflict.js';
import { confirmRefund } from './confirm-refund.js';
import { refunded, refundedByThem, refundedElsewhere } from './refunded-elsewhere.js';
import { otherCameIn, refundTerms, sentFacts, type OrderedRefund, type RefundTerms } from './refund-terms.js';
import { endEvidence, isRefunded, bridgeState, refundClaim, rulesOf, type Transfer } from './transfer.js';
import type { Accepted, Post } from '../engine/post.js';

/**
 * After a proven FAILED: waits for the refund that is or may be due, then sends it (if the input allows it and it can
 * be sent), or asks a person. A completed transfer is never refunded: a contradiction stops here and parks.
 */
export function settleFailure(flow: Flow, transfer: Transfer): Promise<Outcome> {
  if (endStep(endEvidence(transfer)).do === 'refund') {
    flow.enter(
      'refunding',
      'refund-awaited',
      `failed (stage: ${stageOf(transfer)}); waiting for its refund`,
      'service',
    );
    // A failure that is reported past the deadline gets a deadline of its own.
    if (flow.deadlinePassed) flow.extendDeadline();
  }
  return decideFailure(flow, transfer);
}

const stageOf = ({ failure }: Transfer): string => failure?.facts['failureStage'] ?? 'not said';

/** Acts on what is known of a failure, and repeats that until it is decided. */
async function decideFailure(flow: Flow, transfer: Transfer, isRead = false): Promise<Outcome> {
  if (transfer.mismatches.length > 0) {
    await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    return decideFailure(flow, transfer);
  }
  const step = () => endStep(endEvidence(transfer)).do;
  const now = step();
  if (now === 'park') return decideConflict(flow, transfer);
  if (isRefunded(transfer)) return refundedElsewhere(flow, transfer);
  const overdueMs = refundOverdueAtMs(flow, transfer) - Date.now();
  if (now === 'refund' && overdueMs > 0 && !flow.deadlinePassed) {
    const isOver = () => step() !== 'refund' || transfer.mismatches.length > 0 || flow.deadlinePassed;
    await condition(isOver, overdueMs, { summary: 'Wait for the refund of the service' });
    return decideFailure(flow, transfer);
  }
  if (!isRead) {
    // Events against it may be in the inbox, and not have reached the flow.
    await readInbox(flow);
    return decideFailure(flow, transfer, true);
  }
  if (now === 'end') {
    const detail = `The transfer failed (stage: ${stageOf(transfer)}) before any crypto was paid: no refund is due.`;
    return endFlow('failed', 'failed_at_service', detail);
  }
  const terms = refundTerms(flow, transfer);
  if ('code' in terms) return askForRefund(flow, transfer, null, terms);
  const why = whyNotByUs(transfer, overdueMs > 0);
  return why === null ? sendRefund(flow, transfer, terms, 'input') : askForRefund(flow, transfer, terms, why);
}

/** Why a refund with usable terms is not sent by the input's permission alone; null: it is. */
function whyNotByUs(transfer: Transfer, isEarly: boolean): Cause | null {
  if (isEarly) {
    return { code: 'service_may_refund', text: 'the deadline passed, and the service still has time to refund' };
  }
  if (!transfer.input.refund.auto) {
    return { code: 'refund_not_automatic', text: 'the input does not say refund.auto' };
  }
  return otherCameIn(transfer);
}

/** From then on the service is no longer expected to refund by itself. */
function refundOverdueAtMs(flow: Flow, transfer: Transfer): number {
  return (transfer.failedAtMs ?? 0) + flow.scaled(transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS);
}

async function askForRefund(flow: Flow, transfer: Transfer, terms: RefundTerms | null, why: Cause): Promise<Outcome> {
  const evidence = () => ({
    ...shownCause(why),
    refund: terms === null ? null : { ...terms, receiverAddress: masked(terms.receiverAddress) },
    ...knownNow(transfer),
    ...(transfer.unverified.length === 0 ? {} : { claimed: transfer.unverified.map(brief) }),
  });
  const shown = JSON.stringify(knownNow(transfer));
  // An order is given on the evidence that was shown.
  const isOther = () => isDecided(transfer)() || JSON.stringify(knownNow(transfer)) !== shown;
  const decision = await askAbout(flow, 'refund_needed', evidence, isOther);
  if (decision === 'decided') return decideFailure(flow, transfer);
  if (decision.action !== 'refund-now') return endFromDecision(decision);
  const now = refundTerms(flow, transfer);
  if ('code' in now) {
    flow.note('refund-not-possible', `refund-now is not possible: ${now.text}`);
    return askForRefund(flow, transfer, null, now);
  }
  return terms !== null && isStill(flow, transfer, terms)
    ? sendRefund(flow, transfer, now, 'person')
    : askForRefund(flow, transfer, now, AMOUNT_CHANGED);
}

const AMOUNT_CHANGED: Cause = {
  code: 'event_came',
  text: 'an event has come since that changes how much is sent back',
};

async function sendRefund(
  flow: Flow,
  transfer: Transfer,
  terms: RefundTerms,
  by: OrderedRefund['by'],
): Promise<Outcome> {
  const order = { ...terms, by };
  const evidence = { ...endEvidence(transfer), by, termsStand: true, theirsBegun: theirsBegun(transfer) };
  const refusal = refundRefusal(evidence);
  if (refusal !== null) return askForRefund(flow, transfer, order, refusal);
  // It has a deadline of its own if the flow's own is over.
  if (flow.deadlinePassed) flow.extendDeadline();
  flow.enter('refunding', 'sending-refund', `sending the refund of ${order.cryptoAmount} ${order.token}`);
  const submitted = await sentOrWhyNot(flow, postOf(flow, transfer, order));
  if (submitted instanceof HeldBack) {
    // What the flow has taken since is judged like everything before; what it has not, a person must judge.
    const isTaken = submitted.isTaken || transfer.mismatches.length > 0;
    return isTaken ? decideFailure(flow, transfer) : askForRefund(flow, transfer, terms, submitted.why);
  }
  if ('code' in submitted) {
    transfer.ownRefund = null;
    return askForRefund(flow, transfer, null, submitted);
  }
  switch (submitted.kind) {
    case 'accepted':
      flow.note('refund-accepted', 'the refund was accepted by the service; waiting for its confirmation', 'service');
      return refundConfirmed(flow, transfer, order, submitted);
    case 'proven':
      return refundedElsewhere(flow, transfer);
    case 'rejected': {
      const { httpStatus, message } = submitted.rejection;
      transfer.ownRefund = null;
      const text = `refused by the service (${httpStatus}): ${message}`;
      return refundFailed(flow, transfer, { code: 'refund_rejected', text });
    }
    case 'other-request':
    case 'void': {
      const text = `the claim of the refund is ${submitted.kind}: ${submitted.why}`;
      return refundFailed(flow, transfer, { code: 'refund_claim_closed', text });
    }
    default:
      return submitted satisfies never;
  }
}

const theirsBegun = ({ theirRefund }: Transfer) => refundBegun(theirRefund);

/** Whether crypto was paid, and what trusted events say about the service's own refund of it; null: nothing. */
function knownNow(transfer: Transfer) {
  const facts = transfer.theirRefund;
  const begun = shownBeginning(facts);
  const theirs = { theirRefund: facts['refundStatus'] ?? null, ...(begun === null ? {} : { theirRefundBegun: begun }) };
  return { cryptoPaid: endEvidence(transfer).fundsHeld, ...theirs };
}

/** False once less may be sent back than when the terms were made. */
function isStill(flow: Flow, transfer: Transfer, { cryptoAmount }: RefundTerms): boolean {
  const now = refundTerms(flow, transfer);
  return !('code' in now) && now.cryptoAmount === cryptoAmount;
}

function postOf(flow: Flow, transfer: Transfer, order: OrderedRefund): Post {
  const { reference } = order;
  let claim = refundClaim(flow, transfer);
  const hadTheirsBegun = theirsBegun(transfer);
  const endProven = (): TrustedSay => {
    // Nothing in such an event says that it is about our refund: the service may have made one of its own.
    if (isRefunded(transfer)) return transfer.ownRefund === null ? 'shown' : 'other';
    return bridgeState(transfer).kind === 'conflict' ? 'other' : 'nothing';
  };
  const trusted = (): TrustedSay => (transfer.mismatches.length > 0 ? 'other' : endProven());
  // Another send of less would be another request under its reference; and no person ordered one beside theirs.
  const whyNotAgain = (): Cause | undefined => {
    if (!isStill(flow, transfer, order)) {
      return { code: 'less_came_in', text: 'an event has come since that says that less came in' };
    }
    const isTheirs = theirsBegun(transfer) && !hadTheirsBegun;
    const text = "an event has come since that says that the service's own refund was begun";
    return isTheirs ? { code: 'service_refund_begun', text } : undefined;
  };
  return {
    get claim() {
      return claim;
    },
    noun: 'the refund',
    whyNotAgain,
    async send(unasked) {
      const before = transfer.ownRefund;
      const why = whyNotAgain();
      if (why !== undefined) return notSentAgain(flow, claim, why.text);
      transfer.ownRefund = reference;
      const reviewedEventIds = reviewedOrKept(flow, transfer);
      // Bounded by the deadline, by submitUntilDeadline around Post.send.
      const { outcome, fingerprint } = await act(
        submitPolicy(SUBMIT, transfer.windows),
        'Send the refund, under its claim',
        flow.timeScale,
      ).submitRefund({
        ...order,
        reviewedEventIds,
        unasked,
        timeScale: flow.timeScale,
        mostMs: transfer.windows.postMs,
      });
      claim = { ...claim, fingerprint };
      if (NOT_SENT.includes(outcome.kind)) transfer.ownRefund = before;
      if (outcome.kind === 'contradicted') {
        // The event may not have reached the flow yet.
        await readInbox(flow);
        const isTaken = reviewedOrKept(flow, transfer).some((id) => !reviewedEventIds.includes(id));
        if (before === null && endProven() === 'nothing') throw new HeldBack(isTaken);
      }
      return outcome;
    },
    settleMs: transfer.windows.settleMs,
    expect: sentFacts(order),
    fixed: sentFacts(order),
    trusted,
    // Trusted ones too: nothing is sent again by a setting that would not be sent for the first time.
    claimed: () =>
      contradictsFailure(endEvidence(transfer).claimed) || theirsBegun(transfer) || otherCameIn(transfer) !== null,
    // They act already.
    readEvents: () => undefined,
    decideOther: () =>
      transfer.mismatches.length > 0
        ? decideMismatch(flow, transfer, rulesOf(flow, transfer))
        : decideConflict(flow, transfer),
    parkReason: 'refund_unknown',
    // The deposit was executed: whatever happens to the refund, the flow must not say that nothing was executed.
    onNotExecuted: (by) =>
      endFlow('failed', 'closed_by_person', `The transfer failed, and no refund was sent by us; closed by ${by}`),
  };
}

/** What was sent before is as unknown as it was. */
async function notSentAgain(flow: Flow, claim: ClaimRef, why: string): Promise<SubmitOutcome> {
  await holdBack(flow, claim, { actor: 'flow', note: why });
  return { kind: 'unknown', reason: `not sent again: ${why}`, repeat: 'unknown' };
}

/** Results of a submit that show that it did not send the refund. */
const NOT_SENT: readonly SubmitOutcome['kind'][] = ['contradicted', 'rejected', 'void'];

/** An event that this decision does not rest on was enough not to send; its claim stays free for a person's order. */
class HeldBack extends Error {
  override readonly name = 'HeldBack';
  readonly why: Cause = {
    code: 'event_came',
    text: 'an event in the inbox may say that it ended otherwise, or was refunded, or that less came in',
  };
  /** Whether the flow has taken an event since, on which its next decision rests. */
  readonly isTaken: boolean;
  constructor(isTaken: boolean) {
    super();
    this.isTaken = isTaken;
  }
}

/** Or why it cannot be sent as it is: the refund stays due, so that alone must not end the flow. */
async function sentOrWhyNot(flow: Flow, post: Post) {
  try {
    return await submit(flow, post);
  } catch (error) {
    if (error instanceof HeldBack) return error;
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) {
      return { code: 'refund_not_sendable', text: refusal.message } as const;
    }
    throw error;
  }
}

async function refundConfirmed(
  flow: Flow,
  transfer: Transfer,
  order: OrderedRefund,
  submitted: Accepted,
): Promise<Outcome> {
  const ending = await confirmRefund(flow, transfer, order, submitted);
  if (ending === 'conflict') return decideConflict(flow, transfer);
  if (ending === 'arrived') return refunded('Refunded by us to the fallback address.');
  transfer.ownRefund = null;
  return refundFailed(flow, transfer, { code: 'refund_send_failed', text: `the send ended as ${ending.word}` });
}

async function refundFailed(flow: Flow, transfer: Transfer, why: Cause): Promise<Outcome> {
  flow.note('refund-failed', `the refund failed: ${why.text}`, 'service');
  for (;;) {
    const decision = await askAbout(flow, 'refund_failed', () => shownCause(why), isDecided(transfer));
    if (decision !== 'decided') return endFromDecision(decision);
    if (transfer.mismatches.length === 0) break;
    await decideMismatch(flow, transfer, rulesOf(flow, transfer));
  }
  const isTheirsAlone = isRefunded(transfer) && transfer.ownRefund === null;
  return isTheirsAlone ? refundedByThem(flow, transfer) : decideConflict(flow, transfer);
}

const masked = (address: string) => (address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`);
