import { condition } from '@temporalio/workflow';
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
import { cryptoWasPaid } from './statuses.js';
import { standing, type Transfer } from './transfer.js';
import { reportPending } from './track.js';

const OPERATION = 'sendCrypto';
const REFUND_SUFFIX = '.refund';

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
  const order = refundOrder(flow, transfer);
  if (order === null || !transfer.input.refund.auto) return askForRefund(flow, transfer, order);
  return sendRefund(flow, transfer, order);
}

/** The FAILED event announced a refund, or the crypto had been paid. */
function refundIsDue(transfer: Transfer): boolean {
  const facts = transfer.failure?.facts ?? {};
  return (
    facts['refundAnnounced'] === 'true' || facts['cryptoReceivedAt'] !== undefined || cryptoWasPaid(transfer.statuses)
  );
}

function isRefunded(transfer: Transfer): boolean {
  const now = standing(transfer);
  return now.kind === 'ended' && now.ending === 'REFUNDED';
}

function untilRefundIsOverdueMs(flow: Flow, transfer: Transfer): number {
  const waitMs = flow.scaled(transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS);
  return Math.max(1, (transfer.failedAtMs ?? Date.now()) + waitMs - Date.now());
}

/** What a refund by `sendCrypto` would be, or null where the deposit's answer, and so its refund terms, lack something. */
function refundOrder(flow: Flow, transfer: Transfer): RefundOrder | null {
  const refund = transfer.deposit?.refund;
  const { chain, token } = transfer.input;
  if (refund == null || refund.fallbackAddress === null || refund.cryptoAmount === null) return null;
  return {
    flowId: flow.flowId,
    reference: flow.reference + REFUND_SUFFIX,
    receiverAddress: refund.fallbackAddress,
    chain: refund.chain ?? chain,
    token: refund.token ?? token,
    cryptoAmount: refund.cryptoAmount,
  };
}

async function askForRefund(flow: Flow, transfer: Transfer, order: RefundOrder | null): Promise<Outcome> {
  const why =
    order === null
      ? "the refund terms are not known: the deposit's answer was lost, or they name no address and amount"
      : 'the input does not say refund.auto';
  const evidence = {
    why,
    refund: order === null ? null : { ...order, receiverAddress: masked(order.receiverAddress) },
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
  if (order !== null) return sendRefund(flow, transfer, order);
  flow.note('refund-now is not possible: the refund terms are not known');
  return askForRefund(flow, transfer, order);
}

async function sendRefund(flow: Flow, transfer: Transfer, order: RefundOrder): Promise<Outcome> {
  flow.enter('refunding', `sending the refund of ${order.cryptoAmount} ${order.token}`);
  for (;;) {
    const { outcome, claim } = await submitRefund(flow, order);
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

async function submitRefund(flow: Flow, order: RefundOrder) {
  const { outcome, fingerprint } = await act(SUBMIT, 'Send the refund, under its claim', flow.timeScale).submitRefund(
    order,
  );
  const claim: GuardedClaim = { operation: OPERATION, reference: order.reference, flowId: flow.flowId, fingerprint };
  return { outcome, claim };
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
  await reportPending(flow, transfer);
  return refunded('The service or the provider refunded it.');
}

const masked = (address: string) => (address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`);
