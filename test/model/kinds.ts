import { sentOf } from '../../src/protocol/claim-table.js';
import { classifyStatus, PAYMENT_WORDS, type Meaning } from '../../src/protocol/statuses.js';
import { isTrusted } from '../../workflows/engine/events.js';
import type { StepName } from '../../workflows/engine/known.js';
import { mayBeSent } from '../../workflows/engine/view.js';
import { isBridge, postOf, viewIn, type Setting, type World } from './world.js';

/** What must hold of an invoice, and of a bridge transfer, besides. */

/** Steps that only read once more. */
export const CHECKS: readonly StepName[] = ['look', 'look-status', 'look-paid', 'read-inbox', 'write-answer'];

const REFUND_PARKS: readonly string[] = ['conflict', 'event_mismatch'];

/** Of a bridge transfer: never settled and refunded by us, and no refund beside another one, unless a person ordered it. */
export function brokenTransfer(setting: Setting, w: World): string | null {
  if (!isBridge(setting)) return null;
  const { known } = w;
  const refund = postOf(w, 'refund');
  const v = viewIn(setting, w);
  const send = known.running.find((step) => step.do === 'send' && step.request === 'refund');
  const isFirst = send !== undefined && sentOf(refund.claim) === 'nothing';
  const says = (word: string): boolean =>
    known.transfer?.looked?.some(({ status }) => status === word) === true ||
    known.events.some((one) => isTrusted(one) && one.said !== 'dismissed' && one.event.status === word);
  if (isFirst && !says('FAILED')) return 'a refund is sent, and no failure is proven';
  const looked = known.transfer?.lookedTurn;
  const isShown = known.requests['deposit']?.word === 'FAILED' && looked !== undefined;
  const isKnown = known.requests['deposit']?.words.length !== 0;
  if (isFirst && setting.isLive && send.debt?.by === 'input' && isKnown && !isShown)
    return 'a refund is sent by the input, and the lookup does not show the failure';
  const isRunning = w.attempt !== null && w.attempt.does === 'reserve';
  if (
    isFirst &&
    isRunning &&
    send.debt?.by === 'input' &&
    known.events.some(
      ({ event }) => !event.trusted && event.status !== 'FAILED' && send.reviewed?.includes(event.id) === true,
    )
  )
    return 'a refund is sent by the input, and an untrusted event stands against it';
  const isQuoteNeeded =
    known.running.some((step) => step.do === 'send' && step.request === 'deposit') && known.transfer?.isUsed === true;
  if (isQuoteNeeded) return 'a deposit is sent under a quote that was used';
  const isUnapproved = setting.isOrderedLater && known.transfer?.approvedBy == null;
  if (isUnapproved && known.running.some((step) => step.do === 'send' && step.request === 'deposit'))
    return 'a deposit is sent, and its quote was not approved';
  const isTwice =
    (says('COMPLETED') || says('REFUNDED')) && sentOf(refund.claim) === 'unknown' && v.requestPlan.name === 'refund';
  const isIdle = known.running.every(
    (step) => CHECKS.includes(step.do) || ['ask', 'follow', 'report'].includes(step.do),
  );
  const isOver = ['rejected', 'void'].includes(v.request.claim) || v.state.kind === 'ended';
  if (
    isTwice &&
    isIdle &&
    !isOver &&
    v.mismatches.length === 0 &&
    known.parked !== null &&
    !REFUND_PARKS.includes(known.parked.reason) &&
    !known.running.some(({ do: what }) => CHECKS.includes(what))
  )
    return `a refund of ours may have been sent, and it was settled or refunded: a person is asked ${known.parked.reason}`;
  return null;
}

export function brokenTransferEnd(setting: Setting, w: World): string | null {
  const { end, known } = w;
  if (!isBridge(setting) || end === null || end.order !== undefined) return null;
  const byPerson = known.events.some(({ said }) => said === 'accepted' || said === 'trusted');
  const [deposit, refund] = [postOf(w, 'deposit'), postOf(w, 'refund')];
  // What was reversed has come back.
  const cameToNothing: readonly Meaning[] = ['failed', 'refunded'];
  const isRefundMade =
    refund.record?.ours === true && !cameToNothing.includes(classifyStatus(PAYMENT_WORDS, refund.record.word));
  const canSend =
    refund.flights.length > 0 || (refund.zombie !== null && ['absent', 'reserved'].includes(refund.claim.phase));
  if (end.state === 'completed' && (isRefundMade || canSend))
    return 'completed, and a refund of ours was made, or can be yet';
  if (end.state === 'refunded' && !byPerson) {
    // The service has no lookup for it: what it has done and has not told us nobody can know.
    const isTold = w.inbox.some(({ trusted, status }) => trusted && status === 'REFUNDED');
    const isTheirs = deposit.record?.word === 'REFUNDED';
    const isOurs = refund.record !== null && known.requests['refund']?.words.includes('SUCCESSFUL') === true;
    if (!isTheirs && !isOurs)
      return `refunded, and nothing was: ${deposit.record?.word ?? ''} ${refund.record?.word ?? ''}`;
    if (isTheirs && isTold && (isRefundMade || canSend)) return 'refunded twice, or it can be yet';
  }
  const isOwed = deposit.record?.word === 'FAILED' && !deposit.record.wasFailed;
  if (end.reason === 'failed_at_service' && isOwed && !byPerson) return 'called failed, and a refund is owed';
  return null;
}

/** Of an invoice that is generated, and paid once it is ordered. */
export function brokenInvoice(setting: Setting, w: World): string | null {
  const { plan } = setting;
  const { known } = w;
  if (plan.takesPay !== true) return null;
  const { generate, pay } = known.requests;
  if (generate === undefined || pay === undefined) return null;
  const send = known.running.find((step) => step.do === 'send' && step.request === 'pay');
  if (send !== undefined && known.prepared?.steps['pay'] === undefined) return 'it was paid without an order to pay';
  // What was sent before was compared before; and of an invoice that was made elsewhere nothing is known.
  if (send !== undefined && pay.sent === 'nothing' && isGenerated(known) && generate.compared !== 'ours')
    return `it is paid, and was compared: ${generate.compared}`;
  const v = viewIn(setting, w);
  const isIdle = known.running.length === 0 && known.orders.every(({ became }) => became !== null);
  const isReported = v.requestPlan.name === 'pay' && v.reporting.length > 0 && v.executed !== 'shown';
  if (isIdle && isReported && v.mismatches.length === 0 && pay.unaskable === null && !mayBeSent(pay))
    return 'an event reports that it was paid, and the lookup is not asked';
  const orders = known.running.some((step) => step.do === 'order-send' && step.request === 'pay');
  const { payment } = (known.prepared?.input ?? {}) as { readonly payment?: unknown };
  return orders && payment === undefined && isGenerated(known)
    ? 'another payment is ordered, and whom it charges is not known'
    : null;
}

export function brokenInvoiceEnd({ known, end }: World): string | null {
  const { generate } = known.requests;
  if (generate === undefined || end?.order !== undefined || end?.state !== 'completed' || !isGenerated(known))
    return null;
  return generate.compared === 'ours' ? null : `completed, and the invoice was compared: ${generate.compared}`;
}

const isGenerated = ({ prepared }: World['known']): boolean => prepared !== null && 'generate' in prepared.steps;

/** An order to pay is taken once, and not while the flow is being stopped. */
export function brokenPayOrder(before: World, after: World): string | null {
  const [was, is] = [before, after].map(({ known }) => known.prepared?.steps['pay']?.claim.fingerprint);
  // A new run, or one that is reset to before the order, does not know of it.
  if (was !== undefined && is !== undefined && is !== was) return 'another payment is ordered in place of the first';
  const stops = before.known.running.some((step) => step.do === 'void');
  const still = after.known.running.some((step) => step.do === 'void');
  if (was === undefined && is !== undefined && stops && still && before.known.input === 'valid')
    return 'it is ordered to pay while the claims are voided';
  const runs = ({ known }: World) => known.running.some((step) => step.do === 'send' && step.request === 'pay');
  const { pay } = after.known.requests;
  if (!runs(before) && runs(after) && pay?.answer === null && pay.claim === 'free' && pay.paid?.says !== 'not-paid')
    return `it is paid, and whether it was paid by others: ${pay.paid?.says ?? 'not asked'}`;
  const refused = after.known.orders.find(({ action, became }) => action === 'pay' && became === 'refused');
  const { code } = refused?.why ?? {};
  return code === undefined || PAY_REFUSED.includes(code) ? null : `an order to pay is refused: ${code}`;
}

/**
 * `claim_closed`, `payment_unclear`: the store voided the claims without an answer, or may have, and it is not known whether
 * it was paid meanwhile.
 */
const PAY_REFUSED: readonly string[] = [
  'paid_by_another_way',
  'other_request',
  'flow_ended',
  'claim_closed',
  'payment_unclear',
];
