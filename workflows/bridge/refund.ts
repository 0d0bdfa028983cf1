import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';
import type { RefundOrder } from '../../activities/bridge-terms.js';
import { contradictsFailure, endStep, refundRefusal } from '../../src/flows/decisions.js';
import type { Outcome } from '../../src/flows/messages.js';
import { act } from '../steps/activities.js';
import { endAsOrdered } from '../steps/end-as-ordered.js';
import { endFlow } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { park } from '../steps/park.js';
import { REFUND_WAIT_MS, SUBMIT, submitPolicy } from '../steps/policies.js';
import type { Post } from '../steps/post.js';
import { submit } from '../steps/submit.js';
import { confirmRefund } from './confirm-refund.js';
import { refundTerms } from './refund-terms.js';
import { reportPending } from './report.js';
import { brief, decideConflict, endEvidence, isRefunded, standing, type Transfer } from './transfer.js';

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
    // A failure that is told past the deadline has a time of its own.
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
  return sendRefund(flow, transfer, terms, 'input');
}

/** From then on the service is no longer expected to refund by itself. */
function refundOverdueAtMs(flow: Flow, transfer: Transfer): number {
  return (transfer.failedAtMs ?? 0) + flow.scaled(transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS);
}

async function askForRefund(
  flow: Flow,
  transfer: Transfer,
  terms: RefundOrder | string,
  why: string,
): Promise<Outcome> {
  const evidence = {
    why,
    refund: typeof terms === 'string' ? null : { ...terms, receiverAddress: masked(terms.receiverAddress) },
    cryptoPaid: endEvidence(transfer).fundsHeld,
    ...(transfer.unverified.length === 0 ? {} : { claimed: transfer.unverified.map(brief) }),
  };
  const isDecided = () => standing(transfer).kind === 'conflict' || isRefunded(transfer);
  const decision = await park(flow, 'refund_needed', evidence, isDecided);
  if (decision === 'decided')
    return isRefunded(transfer) ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
  if (decision.action !== 'refund-now') return endAsOrdered(decision);
  if (typeof terms !== 'string') return sendRefund(flow, transfer, terms, 'person');
  flow.note(`refund-now is not possible: ${terms}`);
  return askForRefund(flow, transfer, terms, terms);
}

async function sendRefund(
  flow: Flow,
  transfer: Transfer,
  order: RefundOrder,
  by: 'input' | 'person',
): Promise<Outcome> {
  const refusal = refundRefusal({ ...endEvidence(transfer), by, termsStand: true });
  if (refusal !== null) return askForRefund(flow, transfer, order, refusal);
  // It has a time of its own, where the flow's own is over.
  if (flow.deadlinePassed) flow.extendDeadline();
  flow.enter('refunding', `sending the refund of ${order.cryptoAmount} ${order.token}`);
  const submitted = await sentOrWhyNot(flow, postOf(flow, transfer, order));
  if (typeof submitted === 'string') return askForRefund(flow, transfer, submitted, submitted);
  switch (submitted.kind) {
    case 'accepted':
      flow.note('the refund was accepted by the service; waiting for its confirmation', 'service');
      return refundConfirmed(flow, transfer, order);
    case 'proven':
      return refundedElsewhere(flow, transfer);
    case 'rejected': {
      const { httpStatus, message } = submitted.rejection;
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
  return {
    get claim() {
      return claim;
    },
    noun: 'the refund',
    async send() {
      const { outcome, fingerprint } = await act(
        submitPolicy(SUBMIT, transfer.windows),
        'Send the refund, under its claim',
        flow.timeScale,
      ).submitRefund(order);
      claim = { ...claim, fingerprint };
      return outcome;
    },
    settleMs: transfer.windows.settleMs,
    expect: { cryptoAmount: order.cryptoAmount, receiverAddress: order.receiverAddress },
    trusted() {
      if (isRefunded(transfer)) return 'shown';
      return standing(transfer).kind === 'conflict' ? 'other' : 'nothing';
    },
    claimed: () => contradictsFailure(endEvidence(transfer).claimed),
    // They act already.
    hear: () => undefined,
    decideOther: () => decideConflict(flow, transfer),
    parkReason: 'refund_unknown',
    // The deposit was executed: whatever becomes of the refund, the flow must not say that nothing was.
    onNotExecuted: (by) =>
      endFlow('failed', 'closed_by_person', `The transfer failed, and no refund was sent by us; closed by ${by}`),
  };
}

/** Or why it cannot be sent as it is: the refund stays due, so that alone must not end the flow. */
async function sentOrWhyNot(flow: Flow, post: Post) {
  try {
    return await submit(flow, post);
  } catch (error) {
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) return refusal.message;
    throw error;
  }
}

async function refundConfirmed(flow: Flow, transfer: Transfer, order: RefundOrder): Promise<Outcome> {
  const ending = await confirmRefund(flow, transfer, order);
  if (ending === 'conflict') return decideConflict(flow, transfer);
  return ending === 'arrived'
    ? refunded('Refunded by us to the fallback address.')
    : refundFailed(flow, transfer, `the send ended as ${ending.word}`);
}

async function refundFailed(flow: Flow, transfer: Transfer, why: string): Promise<Outcome> {
  flow.note(`the refund failed: ${why}`, 'service');
  const decision = await park(flow, 'refund_failed', { why }, () => isRefunded(transfer));
  return decision === 'decided' ? refundedElsewhere(flow, transfer) : endAsOrdered(decision);
}

function refunded(detail: string): Outcome {
  return { state: 'refunded', reason: null, detail };
}

async function refundedElsewhere(flow: Flow, transfer: Transfer): Promise<Outcome> {
  while (transfer.toReport !== null) await reportPending(flow, transfer);
  return refunded('The service or the provider refunded it.');
}

const masked = (address: string) => (address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`);
