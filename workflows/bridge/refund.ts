import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';
import type { RefundOrder } from '../../activities/bridge-terms.js';
import type { Outcome } from '../../src/flows/messages.js';
import { act } from '../steps/activities.js';
import { endAsOrdered } from '../steps/end-as-ordered.js';
import { endFlow } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { park } from '../steps/park.js';
import { POLL, REFUND_CONFIRM_MS, REFUND_WAIT_MS, STORE, SUBMIT } from '../steps/policies.js';
import { settleUnknown } from '../steps/settle-unknown.js';
import { observed, type GuardedClaim } from '../steps/stop.js';
import { refundIsDue } from './refund-due.js';
import { refundTerms } from './refund-terms.js';
import { reportPending } from './report.js';
import { standing, type Transfer } from './transfer.js';

const OPERATION = 'sendCrypto';

/**
 * After a proven FAILED: waits for the refund that is due, then sends it (where the input says so and it can be sent),
 * or asks a person. Nothing is ever refunded that completed: a contradiction stops here and parks.
 */
export async function settleFailure(flow: Flow, transfer: Transfer): Promise<Outcome> {
  const stage = transfer.failure?.facts['failureStage'] ?? 'not said';
  if (!refundIsDue(transfer)) {
    return endFlow(
      'failed',
      'failed_at_service',
      `The transfer failed (stage: ${stage}) before any crypto was paid: no refund is due.`,
    );
  }
  flow.enter('refunding', `failed (stage: ${stage}); waiting for its refund`, 'service');
  await condition(
    () => standing(transfer).kind === 'conflict' || isRefunded(transfer),
    untilRefundIsOverdueMs(flow, transfer),
  );
  if (isRefunded(transfer)) return refundedElsewhere(flow, transfer);
  if (standing(transfer).kind === 'conflict') return decideConflict(flow, transfer);
  const terms = refundTerms(flow, transfer);
  if (typeof terms === 'string' || !transfer.input.refund.auto) return askForRefund(flow, transfer, terms);
  return sendRefund(flow, transfer, terms);
}

function isRefunded(transfer: Transfer): boolean {
  const now = standing(transfer);
  return now.kind === 'ended' && now.ending === 'REFUNDED';
}

function untilRefundIsOverdueMs(flow: Flow, transfer: Transfer): number {
  const waitMs = flow.scaled(transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS);
  return Math.max(1, (transfer.failedAtMs ?? Date.now()) + waitMs - Date.now());
}

async function askForRefund(flow: Flow, transfer: Transfer, terms: RefundOrder | string): Promise<Outcome> {
  const evidence =
    typeof terms === 'string'
      ? { why: terms, refund: null }
      : {
          why: 'the input does not say refund.auto',
          refund: { ...terms, receiverAddress: masked(terms.receiverAddress) },
        };
  const decision = await park(
    flow,
    'refund_needed',
    evidence,
    () => standing(transfer).kind === 'conflict' || isRefunded(transfer),
  );
  if (decision === 'decided')
    return isRefunded(transfer) ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
  if (decision.action !== 'refund-now') return endAsOrdered(decision);
  if (typeof terms !== 'string') return sendRefund(flow, transfer, terms);
  flow.note(`refund-now is not possible: ${terms}`);
  return askForRefund(flow, transfer, terms);
}

async function sendRefund(flow: Flow, transfer: Transfer, order: RefundOrder): Promise<Outcome> {
  flow.enter('refunding', `sending the refund of ${order.cryptoAmount} ${order.token}`);
  for (;;) {
    const submitted = await submitRefund(flow, order);
    if (typeof submitted === 'string') return askForRefund(flow, transfer, submitted);
    const { outcome, claim } = submitted;
    switch (outcome.kind) {
      case 'accepted':
        if (!outcome.recorded)
          await act(STORE, 'Write the answer to its claim', flow.timeScale).recordAnswer({
            ...claim,
            answer: outcome.answer,
          });
        return confirmRefund(flow, transfer, order);
      case 'rejected':
        if (!outcome.recorded)
          await act(STORE, 'Write the refusal to its claim', flow.timeScale).recordRejection({ ...claim, ...outcome });
        return refundFailed(
          flow,
          transfer,
          `refused by the service (${outcome.rejection.httpStatus}): ${outcome.rejection.message}`,
        );
      case 'contradicted':
        flow.note('a trusted event contradicts the refund: it is not sent');
        await condition(
          () => standing(transfer).kind === 'conflict' || isRefunded(transfer),
          flow.scaled(REFUND_WAIT_MS),
        );
        return isRefunded(transfer) ? refundedElsewhere(flow, transfer) : decideConflict(flow, transfer);
      case 'unknown':
      case 'duplicate': {
        const settled = await settleUnknown(flow, {
          claim,
          windowMs: transfer.windows.settleMs,
          repeat: outcome.repeat,
          ...(outcome.kind === 'duplicate' ? {} : { refused: outcome.refused }),
          parkReason: 'refund_unknown',
          // The deposit was executed: whatever becomes of the refund, the flow must not say that nothing was.
          onNotExecuted: (by) =>
            endFlow('failed', 'closed_by_person', `The transfer failed, and no refund was sent by us; closed by ${by}`),
          proven: () => isRefunded(transfer),
          expect: { cryptoAmount: order.cryptoAmount, receiverAddress: order.receiverAddress },
        });
        if (settled.kind === 'accepted') return confirmRefund(flow, transfer, order);
        if (settled.kind === 'proven') return refundedElsewhere(flow, transfer);
        if (settled.kind === 'rejected') return refundFailed(flow, transfer, settled.rejection.message);
        break;
      }
      case 'other-request':
      case 'void':
      case 'quote-expired':
        return refundFailed(flow, transfer, `the claim of the refund is ${outcome.kind}`);
      default:
        return outcome satisfies never;
    }
  }
}

/** Or why it cannot be sent as it is: the refund stays due, so that alone must not end the flow. */
async function submitRefund(flow: Flow, order: RefundOrder) {
  try {
    const { outcome, fingerprint } = await act(SUBMIT, 'Send the refund, under its claim', flow.timeScale).submitRefund(
      order,
    );
    const claim: GuardedClaim = { operation: OPERATION, reference: order.reference, flowId: flow.flowId, fingerprint };
    return { outcome, claim };
  } catch (error) {
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) return refusal.message;
    throw error;
  }
}

/** The send was accepted; now its own status says whether it arrived. COMPLETED meanwhile is a contradiction. */
async function confirmRefund(flow: Flow, transfer: Transfer, order: RefundOrder): Promise<Outcome> {
  flow.note('the refund was accepted by the service; waiting for its confirmation', 'service');
  const polling = observed(() =>
    act(POLL, 'Wait until the refund is confirmed', flow.timeScale).awaitCryptoSend({
      reference: order.reference,
      timeScale: flow.timeScale,
    }),
  );
  await condition(() => polling.settled() || standing(transfer).kind === 'conflict', flow.scaled(REFUND_CONFIRM_MS));
  if (!polling.settled()) {
    polling.cancel();
    if (standing(transfer).kind === 'conflict') return decideConflict(flow, transfer);
    const decision = await park(flow, 'refund_unconfirmed', { reference: order.reference });
    if (decision !== 'decided' && decision.action === 'keep-waiting') return confirmRefund(flow, transfer, order);
    return endAsOrdered(decision);
  }
  const { succeeded, status } = await polling.promise;
  if (standing(transfer).kind === 'conflict') return decideConflict(flow, transfer);
  return succeeded
    ? refunded('Refunded by us to the fallback address.')
    : refundFailed(flow, transfer, `the send ended as ${status}`);
}

async function refundFailed(flow: Flow, transfer: Transfer, why: string): Promise<Outcome> {
  flow.note(`the refund failed: ${why}`, 'service');
  const decision = await park(flow, 'refund_failed', { why }, () => isRefunded(transfer));
  return decision === 'decided' ? refundedElsewhere(flow, transfer) : endAsOrdered(decision);
}

async function decideConflict(flow: Flow, transfer: Transfer): Promise<never> {
  const evidence = { proven: transfer.statuses.seen, why: 'trusted events prove endings that exclude one another' };
  return endAsOrdered(await park(flow, 'conflict', evidence));
}

function refunded(detail: string): Outcome {
  return { state: 'refunded', reason: null, detail };
}

async function refundedElsewhere(flow: Flow, transfer: Transfer): Promise<Outcome> {
  while (transfer.toReport !== null) await reportPending(flow, transfer);
  return refunded('The service or the provider refunded it.');
}

const masked = (address: string) => (address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`);
