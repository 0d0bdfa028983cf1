import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';
import type { RefundOrder, SubmitOutcome } from '../../activities/types.js';
import { contradictsFailure, endStep, refundRefusal, type TrustedSay } from '../../src/protocol/decisions.js';
import { type Outcome, addressFact } from '../../src/protocol/messages.js';
import { PAYMENT_WORDS } from '../../src/protocol/statuses.js';
import { flowIdOf } from '../../src/protocol/vocabulary.js';
import { act } from '../engine/activities.js';
import { endFromDecision, endFlow } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { REFUND_WAIT_MS, SUBMIT, submitPolicy, REFUND_CONFIRM_MS } from '../engine/policies.js';
import { readInbox } from '../engine/inbox.js';
import { submit } from '../engine/submit.js';
import { parkAndLook, pollStatus } from '../engine/look.js';
import { newPayment, paymentState, takeReading, type Payment, type TrackPlan } from '../engine/payment.js';
import { refundBegun } from './refund-due.js';
import { askAbout, decideConflict } from './ask.js';
import { lessCameIn, refundTerms, type RefundTerms } from './refund-terms.js';
import { reportPending } from './report.js';
import { brief, endEvidence, isRefunded, bridgeState, type Transfer } from './transfer.js';
import type { Post } from '../engine/post.js';

/**
 * After a proven FAILED: waits for the refund that is due or may be, then sends it (where the input says so and it can
 * be sent), or asks a person. Nothing is ever refunded that completed: a contradiction stops here and parks.
 */
export async function settleFailure(flow: Flow, transfer: Transfer): Promise<Outcome> {
  const stage = transfer.failure?.facts['failureStage'] ?? 'not said';
  const step = () => endStep(endEvidence(transfer));
  if (step().do === 'refund') {
    flow.enter('refunding', `failed (stage: ${stage}); waiting for its refund`, 'service');
    const summary = 'Wait for the refund of the service';
    // A failure that is reported past the deadline has a time of its own.
    if (flow.deadlinePassed) flow.extendDeadline();
    const isOver = () => step().do !== 'refund' || flow.deadlinePassed;
    await condition(isOver, Math.max(1, refundOverdueAtMs(flow, transfer) - Date.now()), { summary });
  }
  const now = step();
  if (now.do === 'park') return decideConflict(flow, transfer);
  if (isRefunded(transfer)) return refundedElsewhere(flow, transfer);
  if (now.do === 'end') {
    const detail = `The transfer failed (stage: ${stage}) before any crypto was paid: no refund is due.`;
    return endFlow('failed', 'failed_at_service', detail);
  }
  const terms = refundTerms(flow, transfer);
  if (typeof terms === 'string') return askForRefund(flow, transfer, terms, terms);
  if (Date.now() < refundOverdueAtMs(flow, transfer))
    return askForRefund(flow, transfer, terms, 'the deadline passed, and the service still has time to refund');
  if (!transfer.input.refund.auto) return askForRefund(flow, transfer, terms, 'the input does not say refund.auto');
  const less = lessCameIn(transfer);
  return less === null ? sendRefund(flow, transfer, terms, 'input') : askForRefund(flow, transfer, terms, less);
}

/** From then on the service is no longer expected to refund by itself. */
function refundOverdueAtMs(flow: Flow, transfer: Transfer): number {
  return (transfer.failedAtMs ?? 0) + flow.scaled(transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS);
}

async function askForRefund(
  flow: Flow,
  transfer: Transfer,
  terms: RefundTerms | string,
  why: string,
): Promise<Outcome> {
  const evidence = () => ({
    why,
    refund: typeof terms === 'string' ? null : { ...terms, receiverAddress: masked(terms.receiverAddress) },
    cryptoPaid: endEvidence(transfer).fundsHeld,
    theirRefund: transfer.failure?.facts['refundStatus'] ?? null,
    ...(transfer.unverified.length === 0 ? {} : { claimed: transfer.unverified.map(brief) }),
  });
  const isDecided = () => bridgeState(transfer).kind === 'conflict' || isRefunded(transfer);
  const decision = await askAbout(flow, transfer, 'refund_needed', evidence, isDecided);
  if (decision === 'decided')
    return isRefunded(transfer) ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
  if (decision.action !== 'refund-now') return endFromDecision(decision);
  const now = refundTerms(flow, transfer);
  if (typeof now === 'string') {
    flow.note(`refund-now is not possible: ${now}`);
    return askForRefund(flow, transfer, now, now);
  }
  const isAsShown = typeof terms !== 'string' && now.cryptoAmount === terms.cryptoAmount;
  return isAsShown
    ? sendRefund(flow, transfer, now, 'person')
    : askForRefund(flow, transfer, now, 'an event has come since that changes how much is sent back');
}

async function sendRefund(flow: Flow, transfer: Transfer, terms: RefundTerms, by: RefundOrder['by']): Promise<Outcome> {
  const order = { ...terms, by };
  const theirsBegun = refundBegun(transfer.failure?.facts ?? {});
  const refusal = refundRefusal({ ...endEvidence(transfer), by, termsStand: true, theirsBegun });
  if (refusal !== null) return askForRefund(flow, transfer, order, refusal);
  // It has a time of its own, where the flow's own is over.
  if (flow.deadlinePassed) flow.extendDeadline();
  flow.enter('refunding', `sending the refund of ${order.cryptoAmount} ${order.token}`);
  const submitted = await sentOrWhyNot(flow, postOf(flow, transfer, order));
  if (submitted instanceof HeldBack) return askForRefund(flow, transfer, terms, submitted.message);
  if (typeof submitted === 'string') {
    transfer.ownRefund = null;
    return askForRefund(flow, transfer, submitted, submitted);
  }
  switch (submitted.kind) {
    case 'accepted':
      flow.note('the refund was accepted by the service; waiting for its confirmation', 'service');
      return refundConfirmed(flow, transfer, order);
    case 'proven':
      return refundedElsewhere(flow, transfer);
    case 'rejected': {
      const { httpStatus, message } = submitted.rejection;
      transfer.ownRefund = null;
      return refundFailed(flow, transfer, `refused by the service (${httpStatus}): ${message}`);
    }
    case 'other-request':
    case 'void':
    case 'quote-expired':
      return refundFailed(flow, transfer, `the claim of the refund is ${submitted.kind}: ${submitted.why}`);
    default:
      return submitted satisfies never;
  }
}

function postOf(flow: Flow, transfer: Transfer, order: RefundOrder): Post {
  const { reference, flowId, pin } = order;
  let claim = { operation: 'sendCrypto', reference, flowId, fingerprint: '', pin };
  const trusted = (): TrustedSay => {
    // Nothing in such an event says that it is of our refund: the service may have made one of its own.
    if (isRefunded(transfer)) return transfer.ownRefund === null ? 'shown' : 'other';
    return bridgeState(transfer).kind === 'conflict' ? 'other' : 'nothing';
  };
  return {
    get claim() {
      return claim;
    },
    noun: 'the refund',
    async send() {
      const before = transfer.ownRefund;
      transfer.ownRefund = reference;
      const { outcome, fingerprint } = await act(
        submitPolicy(SUBMIT, transfer.windows),
        'Send the refund, under its claim',
        flow.timeScale,
      ).submitRefund(order);
      claim = { ...claim, fingerprint };
      if (NOT_SENT.includes(outcome.kind)) transfer.ownRefund = before;
      if (outcome.kind === 'contradicted' && order.by === 'input') {
        // The event may not have come to the flow yet.
        await readInbox(flow);
        if (trusted() === 'nothing') throw new HeldBack();
      }
      return outcome;
    },
    settleMs: transfer.windows.settleMs,
    expect: { cryptoAmount: order.cryptoAmount, receiverAddress: order.receiverAddress },
    trusted,
    claimed: () => contradictsFailure(endEvidence(transfer).claimed),
    // They act already.
    readEvents: () => undefined,
    decideOther: () => decideConflict(flow, transfer),
    parkReason: 'refund_unknown',
    // The deposit was executed: whatever becomes of the refund, the flow must not say that nothing was.
    onNotExecuted: (by) =>
      endFlow('failed', 'closed_by_person', `The transfer failed, and no refund was sent by us; closed by ${by}`),
  };
}

/** What a submit says of a refund that did not leave by it. */
const NOT_SENT: readonly SubmitOutcome['kind'][] = ['contradicted', 'rejected', 'void', 'quote-expired'];

/** An untrusted event was enough not to send what no person ordered; its claim stays free for a person's order. */
class HeldBack extends Error {
  override readonly name = 'HeldBack';
  override readonly message = 'an unverified event claims another ending';
}

/** Or why it cannot be sent as it is: the refund stays due, so that alone must not end the flow. */
async function sentOrWhyNot(flow: Flow, post: Post) {
  try {
    return await submit(flow, post);
  } catch (error) {
    if (error instanceof HeldBack) return error;
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) return refusal.message;
    throw error;
  }
}

async function refundConfirmed(flow: Flow, transfer: Transfer, order: RefundOrder): Promise<Outcome> {
  const ending = await confirmRefund(flow, transfer, order);
  if (ending === 'conflict') return decideConflict(flow, transfer);
  if (ending === 'arrived') return refunded('Refunded by us to the fallback address.');
  transfer.ownRefund = null;
  return refundFailed(flow, transfer, `the send ended as ${ending.word}`);
}

async function refundFailed(flow: Flow, transfer: Transfer, why: string): Promise<Outcome> {
  flow.note(`the refund failed: ${why}`, 'service');
  const isDecided = () => bridgeState(transfer).kind === 'conflict' || isRefunded(transfer);
  const decision = await askAbout(flow, transfer, 'refund_failed', () => ({ why }), isDecided);
  if (decision !== 'decided') return endFromDecision(decision);
  const isTheirsAlone = isRefunded(transfer) && transfer.ownRefund === null;
  return isTheirsAlone ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
}

function refunded(detail: string): Outcome {
  return { state: 'refunded', reason: null, detail };
}

async function refundedElsewhere(flow: Flow, transfer: Transfer): Promise<Outcome> {
  while (transfer.toReport !== null) await reportPending(flow, transfer);
  return refunded('The service or the provider refunded it.');
}

const masked = (address: string) => (address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`);

const REFUND: TrackPlan = { noun: 'the refund', words: PAYMENT_WORDS, hasLookup: true, firstLookMs: 0 };

/**
 * The send was accepted; its own status says whether it arrived, as of every crypto send. A completion of the transfer
 * meanwhile is a contradiction.
 */
async function confirmRefund(
  flow: Flow,
  transfer: Transfer,
  order: RefundOrder,
): Promise<'arrived' | 'conflict' | { readonly word: string }> {
  const send = sendOf(transfer, order);
  const isConflict = () => bridgeState(transfer).kind === 'conflict' || isRefunded(transfer);
  const standing = () => {
    const ended = endOf(send);
    // A send of ours that failed is no second refund.
    const hasFailed = ended !== null && ended !== 'arrived';
    return bridgeState(transfer).kind === 'conflict' || (isRefunded(transfer) && !hasFailed) ? 'conflict' : ended;
  };
  let notBeforeMs = 0;
  for (;;) {
    const polling = pollStatus(flow, send, REFUND, 0);
    const summary = 'Wait until the refund is confirmed';
    const isOver = () => polling.settled() || isConflict() || flow.deadlinePassed;
    await condition(isOver, Math.max(flow.scaled(REFUND_CONFIRM_MS), notBeforeMs - Date.now()), { summary });
    if (polling.settled()) takeReading(flow, send, REFUND, await polling.promise);
    else polling.cancel();
    const ended = standing();
    if (ended !== null) return ended;
    // A word that is not final: the next one is waited for as long.
    if (polling.settled() && send.otherRecord === undefined) continue;
    const evidence = { reference: order.reference, ...send.otherRecord };
    const asked = { reason: 'refund_unconfirmed', evidence } as const;
    // A record of another send stays one, however often it is looked at.
    const decision = send.otherRecord
      ? await askAbout(flow, transfer, asked.reason, () => evidence, isConflict)
      : await parkAndLook(flow, send, REFUND, asked, isConflict);
    delete send.otherRecord;
    if (decision !== 'decided' && decision.action !== 'keep-waiting') endFromDecision(decision);
    const until = decision === 'decided' ? undefined : decision.until;
    notBeforeMs = until === undefined ? 0 : Date.parse(until);
    if (until !== undefined || (decision !== 'decided' && flow.deadlinePassed)) flow.extendDeadline(until);
    const meanwhile = standing();
    if (meanwhile !== null) return meanwhile;
  }
}

function endOf(send: Payment): 'arrived' | { readonly word: string } | null {
  const now = paymentState(send);
  if (now.kind === 'open' || send.otherRecord !== undefined) return null;
  return now.kind === 'ended' && now.meaning === 'succeeded' ? 'arrived' : { word: send.words.at(-1) ?? now.kind };
}

/** It is looked up as the crypto send that it is. */
function sendOf(transfer: Transfer, { reference, cryptoAmount, receiverAddress }: RefundOrder): Payment {
  const send = newPayment({
    input: { referenceId: reference },
    windows: transfer.windows,
    steps: {},
    pin: transfer.pin,
  });
  const lookUpAs = flowIdOf('crypto-send', reference);
  return { ...send, lookUpAs, facts: { cryptoAmount, receiverAddress: addressFact(receiverAddress) } };
}
