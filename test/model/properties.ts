import { sentOf } from '../../src/protocol/claim-table.js';
import { REFUND_INVOICE_NEEDED, type Meaning } from '../../src/protocol/statuses.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import type { Event, StepName } from '../../workflows/engine/known.js';
import { isTrusted, meaningFor } from '../../workflows/engine/events.js';
import { CARD_PAUSE_MS } from '../../workflows/engine/policies.js';
import { mayBeSent, requestOf } from '../../workflows/engine/view.js';
import { isOfCopy } from './here.js';
import { brokenInvoice, brokenInvoiceEnd, brokenPayOrder, brokenTransfer, brokenTransferEnd, CHECKS } from './kinds.js';
import {
  claimReading,
  hasUnjudged,
  isBridge,
  isElsewhere,
  isLookup,
  lookingAt,
  lookingAtCurrent,
  postOf,
  meaningIn,
  requestPlanOf,
  viewIn,
  type Budget,
  type Setting,
  type World,
} from './world.js';

/*
 * What must hold. Each has its exceptions beside it, in words: a service that takes its own "failed" back, what a person
 * accepted, trusted or closed, and a person's order to send again.
 */

/** In every state. Null: all holds; else what does not. */
export function broken(setting: Setting, world: World, most: Budget): string | null {
  if (world.wrong !== null) return world.wrong;
  const w = lookingAtCurrent(setting, world);
  const { known, end } = w;
  // I1. A service that executes a repeated reference again does so only for sends that were ordered.
  const twice = postsOf(setting, w).find(({ executions, moreSends }) => executions > 1 + moreSends);
  if (twice !== undefined) return `executed ${twice.executions} times, and ordered again ${twice.moreSends} times`;
  if (known.running.filter((step) => step.do === 'send').length > 1) return 'two sends at a time';
  if (end !== null) {
    const ends = setting.plan.requests.map(({ name }) => brokenEnd(setting, lookingAt(name, w)));
    return ends.find((one) => one !== null) ?? brokenInvoiceEnd(w) ?? brokenTransferEnd(setting, w);
  }
  const unprepared = known.running.find((step) => known.prepared === null && NEED_TERMS.includes(step.do));
  if (unprepared !== undefined) return `"${unprepared.do}" runs, and the input was not checked`;
  const ran = brokenStep(setting, w) ?? brokenInvoice(setting, w) ?? brokenTransfer(setting, w);
  if (ran !== null) return ran;
  if (w.decision.says.length > 0) return 'what is reported is reported twice';
  if (known.parked !== null && known.parked.actions.length === 0) return 'parked without a legal order';
  // Its lookup shows the invoice before a payment, too, and so never that a refused one was not made.
  const isRefusalUnproven = w.post.claim.refusal && requestPlanOf(setting, w).byOthersToo === true;
  if (isSmooth(setting, w, most) && known.parked !== null && !isRefusalUnproven)
    return `parked (${known.parked.reason}), and nothing went wrong`;
  return brokenPark(setting, w) ?? brokenDebt(setting, w);
}

/** No fault, no event, no order, and the service has done what it was asked to do. */
const isSmooth = (setting: Setting, w: World, most: Budget): boolean => {
  const { left, nowMs, known } = w;
  return (
    left.faults === most.faults &&
    left.events === most.events &&
    left.orders === most.orders &&
    nowMs < known.deadlineAtMs &&
    postsOf(setting, w).every(({ record }) => record?.ours !== false) &&
    !requestOf(known, w.at).words.some((word) => BEYOND_US.includes(meaningIn(setting, word))) &&
    // The refund that it owes may be a person's to make.
    !(isBridge(setting) && requestOf(known, 'deposit').words.includes('FAILED'))
  );
};

/** The service has what is a person's to mend. */
const BEYOND_US: readonly Meaning[] = ['funds-held', 'refund-failed'];

const isRefundAnnounced = ({ events }: World['known']): boolean =>
  events.some((one) => isTrusted(one) && one.event.status === REFUND_INVOICE_NEEDED);

/** Money that is owed, or held for nothing, is a person's to see to. */
function brokenDebt(setting: Setting, w: World): string | null {
  const { plan } = setting;
  const { known, nowMs } = w;
  const v = viewIn(setting, w);
  const { request, state, mismatches } = v;
  // An invoice that is being handed over is awaited.
  const isBusy = known.running.some(
    (step) => CHECKS.includes(step.do) || step.do === 'hand-over' || step.order !== undefined,
  );
  const isOurs = v.executed === 'shown' && !request.isOther && v.post.lookup !== 'other' && mismatches.length === 0;
  if (isBusy || !isOurs || known.orders.some(({ became }) => became === null)) return null;
  const asked = known.parked?.reason ?? '';
  const isHeld = state.kind === 'funds-held' && asked !== 'crypto_leg_failed';
  const isFailed = state.kind === 'ended' && state.meaning === 'refund-failed' && asked !== 'refund_failed';
  if (isHeld || isFailed) return `money is owed, and a person is asked: ${asked || 'nothing'}`;
  const once = { ...request, maybeTwice: false };
  const owesRefund = request.words.some((word) => meaningFor(plan, v.requestPlan, once, word) === 'refund-pending');
  const isMade = v.endings.includes('refunded') || v.endings.includes('completed');
  const isForInvoice = asked === 'refund_invoice_ready' || asked === 'refund_invoice_needed';
  if (isForInvoice && isMade) return `a refund was made, and a person is asked: ${asked}`;
  if (!owesRefund || state.kind !== 'open' || v.is.hinted || isMade) return null;
  const { given = null, isHandedOver = false, isAwaited = false } = known.refundInvoice ?? {};
  const isGiven = given !== null && nowMs < given.expiresAtMs;
  const isGoing = known.running.some((step) => step.do === 'hand-over');
  if (isGiven && !isHandedOver && !isGoing && asked !== 'refund_invoice_ready')
    return 'a refund invoice is ready, and nobody is asked';
  const isMissing = !isGiven && !isHandedOver && !isAwaited;
  if (isRefundAnnounced(known) && isMissing && asked !== 'refund_invoice_needed')
    return 'the service asks for a refund invoice, and nobody is asked';
  return null;
}

/** They name a claim, which only the checked input knows. */
const NEED_TERMS: readonly StepName[] = [
  'send',
  'ask',
  'look',
  'follow',
  'look-status',
  'write-answer',
  'order-send',
  'take-back',
  'close',
];

/** What runs, and should not. */
function brokenStep(setting: Setting, w: World): string | null {
  const { plan } = setting;
  const { known, nowMs } = w;
  const v = viewIn(setting, w);
  const runs = (...names: readonly StepName[]): boolean => known.running.some((step) => names.includes(step.do));
  const { request } = v;
  if (runs('send') && isElsewhere(setting)) return 'what was made elsewhere is sent';
  if (runs('send') && request.answer === 'other-request') return 'what is the request of another flow is sent';
  const isIdle = known.running.length === 0 && known.orders.every(({ became }) => became !== null);
  const isDue =
    known.input === 'valid' &&
    request.answer === null &&
    request.claim === 'free' &&
    plan.takesPay !== true &&
    !setting.isOrderedLater;
  if (isIdle && isDue && known.parked === null && known.events.length === 0 && nowMs < known.deadlineAtMs)
    return 'nothing is in the way of the send, and it is not made';
  const isUnpaused = request.answer === 'not-sent' && nowMs < (request.notSent?.atMs ?? 0) + CARD_PAUSE_MS;
  if (runs('send') && isUnpaused) return 'what was not sent is tried again without a pause';
  const isBySetting = known.running.some((step) => step.do === 'order-send' && step.order === undefined);
  if (isBySetting && v.claimed.length > 0) return 'it is sent again by the setting, and an unverified event says more';
  if (runs('send') && request.answer === 'gone') return 'it is sent again, and what that needs is gone';
  const isUnsent = request.answer === null && request.claim === 'free' && known.events.length === 0;
  if (runs('follow') && isUnsent && !isElsewhere(setting) && !v.is.elsewhere) return 'what was not sent is followed';
  const isCalm = known.events.length === 0 && known.orders.every(({ became }) => became !== null);
  // Before a refund of ours the deposit is looked up.
  if (runs('look-status') && isCalm && nowMs < known.deadlineAtMs && !isBridge(setting))
    return 'its status is asked at once, and nothing hints at another one';
  const owesRefund = request.words.some((word) => meaningIn(setting, word) === 'refund-pending');
  if (runs('check-invoice') && !owesRefund) return 'a refund invoice is checked, and no refund is owed';
  if (runs('order-send') && v.requestPlan.byGateway === true) return 'what only a gateway could send is sent again';
  // A debt is decided anew once what held it back was judged.
  const isJudged = known.transfer?.heldBack?.some((id) => !known.events.some(({ event }) => event.id === id)) === false;
  const isAnew = isJudged && known.events.some(({ event }) => known.transfer?.heldBack?.includes(event.id) === false);
  if (runs('send') && request.answer === 'held-back' && request.claim !== 'ordered' && !isAnew)
    return 'what an event held back is sent by itself';
  if (runs('follow', 'ask') && request.unaskable !== null) return 'it is asked on, and that is refused each time';
  if (runs('follow') && v.executed === 'shown' && (request.isOther || v.post.lookup === 'other'))
    return 'a record of another payment is followed';
  const isHinted = v.is.hinted && !v.is.looked && v.executed === 'shown' && !v.is.overdue && known.input === 'valid';
  if (runs('follow') && isHinted && known.parked === null && known.orders.every(({ became }) => became !== null))
    return 'an event reports an end, and the lookup is not asked at once';
  const { stop: tried } = known;
  const isUnanswered = tried?.says === 'no-answer' && tried.turn === known.turn;
  const isTriedAgain = known.running.some(
    (step) => step.do === 'void' && step.isParked !== true && step.stop === tried?.for && step.order === undefined,
  );
  if (isUnanswered && tried.order === null && isTriedAgain) return 'the store does not answer, and nobody is asked';
  if (known.running.some((step) => step.do === 'void' && step.isParked === true && step.order !== undefined))
    return 'a cancel waits for the store for as long as that is away';
  return null;
}

const POST_REASONS: readonly string[] = ['not_found_at_service', 'unknown_outcome'];

function brokenPark(setting: Setting, w: World): string | null {
  const { known, nowMs, decision, post } = w;
  const { parked } = known;
  // Of an invalid input nothing can be compared or looked up.
  if (parked === null || known.prepared === null || decision.wakeAtMs === nowMs) return null;
  const v = viewIn(setting, w);
  // A question stands while it is checked once more.
  const isChecked = known.running.some((step) => CHECKS.includes(step.do));
  const isIdle = !isChecked && known.orders.every(({ became }) => became !== null);
  if (!isIdle) return null;
  const { given = null } = known.refundInvoice ?? {};
  if (parked.reason === 'refund_invoice_ready' && (given === null || nowMs >= given.expiresAtMs))
    return 'a person is to hand over an invoice that has expired';
  const owesRefund = v.request.words.some((word) => meaningIn(setting, word) === 'refund-pending');
  if (parked.reason === 'no_settlement' && owesRefund) return 'a refund is owed, and it is parked as no_settlement';
  if (parked.reason === 'refund_pending' && !owesRefund) return 'no refund is owed, and it is parked as refund_pending';
  const isTaken = claimReading(post.claim).claim === 'ordered';
  if (isTaken && !known.running.some((step) => step.do === 'take-back' || step.order !== undefined))
    return 'another send stays ordered, and nobody makes it or takes it back';
  if (v.state.kind === 'conflict' && !['conflict', 'event_mismatch'].includes(parked.reason))
    return `what is proven excludes one another, and it is parked as ${parked.reason}`;
  const isOfAnother = v.post.lookup === 'other' || v.request.isOther;
  if (v.executed === 'shown' && isOfAnother && !['conflict', 'event_mismatch'].includes(parked.reason))
    return `its record is of another payment, and it is parked as ${parked.reason}`;
  const isProven =
    v.state.kind === 'ended' &&
    v.state.meaning !== 'refund-failed' &&
    !(v.state.meaning === 'failed' && isRefundAnnounced(known)) &&
    v.mismatches.length === 0 &&
    v.claimed.length === 0 &&
    v.post.lookup !== 'other' &&
    !v.request.isOther;
  // Of a bridge transfer a failure may owe a refund.
  const isBeside = parked.reason === 'step_failed' || isBridge(setting);
  if (isProven && known.input === 'valid' && !isBeside && known.running.length === 0)
    return `parked (${parked.reason}), although an end is proven`;
  const request = requestOf(known, w.at);
  const isAboutPost = [...POST_REASONS, 'could_not_ask'].includes(parked.reason);
  if (isAboutPost && request.claim === 'void') return `a person is asked (${parked.reason}), and its claim is void`;
  if (parked.reason === 'unknown_outcome' && request.answer === 'held-back' && known.inbox?.says !== 'read')
    return 'a person is asked about what an event held back, and the inbox was not read';
  // Asked within the window, a person could order what the POST overtakes.
  const isOpenQuestion = POST_REASONS.includes(parked.reason) && request.answer !== 'held-back';
  if (isOpenQuestion && nowMs < request.askUntilMs && nowMs < known.deadlineAtMs)
    return `a person is asked (${parked.reason}) within the window`;
  const isUnasked = nowMs >= request.askUntilMs && (request.lookup?.askedAtMs ?? -1) < request.askUntilMs;
  const isOfPost = isOpenQuestion || parked.reason === 'could_not_ask';
  const isUnknown = v.postStep.do === 'ask-on' && parked.sinceMs >= request.askUntilMs && !v.is.overdue;
  if (isOfPost && isUnknown && isUnasked && request.claim === 'sending')
    return `a person is asked (${parked.reason}), and it was not asked about at the end of the window`;
  return null;
}

function brokenEnd(setting: Setting, w: World): string | null {
  const { known, post, end, inbox } = w;
  const { movesNothing, eventsOf } = requestPlanOf(setting, w);
  if (end === null || movesNothing === true) return null;
  // A refund that was never sent is no part of the end.
  if (eventsOf !== undefined && sentOf(post.claim) === 'nothing' && post.record === null) return null;
  const isDebt = eventsOf !== undefined;
  const { record, claim } = post;
  if (known.orders.some(({ became }) => became === null)) return 'ended, and an order has no reply';
  if (
    end.reason === 'not_executed' &&
    known.orders.some(({ result, became }) => result === 'void' && became === 'refused')
  )
    return 'an order that closed the claim is refused, and the flow ends by it';
  const request = requestOf(known, w.at);
  const isAnswered = request.claim === 'answered' || request.claim === 'rejected';
  if (request.byClaim && isAnswered && request.lookup === null && end.order === undefined)
    return 'ended, and the answer in its claim was not read';
  const isByEvents = end.reason === 'failed_at_service' && !isLookup(setting, w) && end.order === undefined;
  const means = (word: string | null, meaning: Meaning): boolean => meaningIn(setting, word) === meaning;
  const failedAtMs = known.events.findLast((one) => isTrusted(one) && means(one.event.status, 'failed'))?.atMs;
  if (isByEvents && failedAtMs !== undefined && w.nowMs < failedAtMs + known.graceMs)
    return 'called failed while another event may contradict that';
  if (FAILED_BY_ITSELF.includes(end.reason ?? '') && end.order === undefined && !isLookup(setting, w)) {
    const isDenied = known.events.some((one) => !isTrusted(one) && one.said === null && isAgainstFailure(setting, one));
    if (isDenied) return 'called failed, and an unverified event says otherwise';
  }
  if (request.unwritten) return 'ended, and the answer of the service is not written to its claim';
  const trusted = inbox.filter((event) => event.trusted);
  const byOrder = end.order !== undefined || known.events.some(({ said }) => said === 'accepted' || said === 'trusted');
  const byPerson = byOrder || claim.closed;
  const deniesMoney = end.state === 'failed' || end.state === 'expired' || end.state === 'cancelled';
  // What was made elsewhere goes on, whether or not it is followed.
  const isLeft = isElsewhere(setting) && end.reason !== (setting.plan.ends?.failed[0] ?? 'failed_at_service');
  if (isElsewhere(setting) && end.state === 'expired') return 'what was made elsewhere is called expired';
  if (end.reason === 'failed_at_service' && !byPerson && isRefundAnnounced(known))
    return 'called failed, and a trusted event says that a refund is due';
  if (deniesMoney && !byPerson && !isLeft && !(isBridge(setting) && !isDebt && end.reason === 'closed_by_person')) {
    const hasFailed =
      request.words.some((word) => means(word, 'failed') && !isDeclined(word)) ||
      known.events.some(({ event }) => event.trusted && means(event.status, 'failed') && !isDeclined(event.status));
    const word = record?.word ?? null;
    const isDead = means(word, 'refunded') || (means(word, 'failed') && !(isDeclined(word) && isOfCopy(post)));
    // What others do is not known to a flow after its last lookup, nor to a run whose input is invalid: it can ask nothing.
    const isUnseen = record?.byOthers === 'unseen' || (record?.byOthers === 'seen' && known.prepared === null);
    const isAlive = record?.ours === true && !isDead && !isUnseen;
    // I4. Not against a service that takes its own "failed" back.
    if (isAlive && !hasFailed && !record.wasFailed)
      return `ended ${end.state} (${end.reason}), and the service has it: ${record.word}`;
    if (post.flights.length > 0 && !hasFailed) return `ended ${end.state} (${end.reason}) with a POST on its way`;
    const canSend =
      post.zombie !== null && (claim.phase === 'absent' || (claim.phase === 'reserved' && !claim.ordered));
    if (canSend && trusted.length === 0 && end.reason !== 'other_request_same_reference')
      return `ended ${end.state} (${end.reason}), and a forgotten worker can still send`;
    const unread = inTimeOf(setting, w).filter(
      ({ id, trusted: isProven }) => isProven && !known.events.some(({ event }) => event.id === id),
    );
    if (unread.length > 0)
      return `ended ${end.state} (${end.reason}), and the inbox holds: ${unread.map(({ id }) => id).join(', ')}`;
    const isAgainst = known.events.some(
      (one) => isTrusted(one) && means(one.event.status, 'succeeded') && one.said !== 'dismissed',
    );
    if (isAgainst && end.reason !== 'failed_at_service' && setting.plan.isOnlyHinted !== true)
      return `ended ${end.state} (${end.reason}), and a trusted event says that it succeeded`;
  }
  if ((end.state === 'cancelled' || end.state === 'expired') && sentOf(claim) === 'unknown')
    return `ended ${end.state}: before any money moved, and its claim was in sending`;
  const isDenied = claim.phase === 'rejected' || claim.phase === 'void';
  if (!deniesMoney && !byOrder && isDenied && !request.proofWritten && record?.byOthers === undefined && !isDebt)
    return `ended ${end.state}, and its claim is ${claim.phase}`;
  if (end.reason === 'not_executed' && post.flights.length > 0) return 'closed as not executed with a POST on its way';
  if (
    end.state === 'completed' &&
    !byPerson &&
    !isDebt &&
    !(record?.ours === true && (means(record.word, 'succeeded') || means(record.word, 'refunded')))
  )
    return `completed, and the service has: ${record?.word ?? 'nothing'}`;
  if (
    end.state === 'refunded' &&
    !byPerson &&
    !isBridge(setting) &&
    !(record?.ours === true && means(record.word, 'refunded'))
  )
    return `refunded, and the service has: ${record?.word ?? 'nothing'}`;
  if (end.state === 'expired' && w.nowMs < known.deadlineAtMs) return 'expired before the deadline';
  return null;
}

const FAILED_BY_ITSELF: readonly string[] = ['failed_at_service', 'rejected_by_service'];

function isAgainstFailure(setting: Setting, { event }: Event): boolean {
  const meaning = meaningIn(setting, event.status);
  return meaning === 'succeeded' || meaning === 'refunded' || event.facts['body'] !== undefined;
}

const isDeclined = (word: string | null): boolean => word?.endsWith('DECLINED') === true;

/** If results take time, what came in after the flow's last reading is late. */
const inTimeOf = ({ isSlow }: Setting, { inbox, read }: World): World['inbox'] =>
  isSlow ? inbox.slice(0, read) : inbox;

/** Of one move. */
export function brokenMove(setting: Setting, from: World, to: World): string | null {
  const after = lookingAtCurrent(setting, to);
  const name = after.at;
  const before = lookingAt(name, from);
  const isSameRun = after.known.turn >= before.known.turn && after.known.input !== 'unchecked';
  const lost = before.known.events.filter(
    ({ event }) => event.trusted && !after.known.events.some((one) => one.event.id === event.id),
  );
  if (isSameRun && lost.length > 0) return 'a trusted event is forgotten';
  const { given = null, isHandedOver = false, handOver } = before.known.refundInvoice ?? {};
  const isPayable =
    (isHandedOver || handOver?.says === 'unknown') && given !== null && before.nowMs < given.expiresAtMs;
  if (isSameRun && isPayable && after.known.refundInvoice?.given?.paymentHash !== given.paymentHash)
    return 'another refund invoice is taken while one can be paid that was handed over';
  const [was, is] = [before, after].map(({ known }) => requestOf(known, name));
  if (
    was !== undefined &&
    is !== undefined &&
    isSameRun &&
    mayBeSent(was) &&
    !mayBeSent(is) &&
    sentOf(after.post.claim) === 'unknown' &&
    // Its answer will say so.
    !after.known.running.some((step) => step.do === 'send')
  )
    return 'the flow forgets that it may have been sent';
  const shown = after.known.parked;
  const isAtDeadline = AT_DEADLINE.some((reason) => reason === shown?.reason);
  const isNewQuestion = shown !== null && shown.sinceMs !== before.known.parked?.sinceMs;
  if (isNewQuestion && isAtDeadline && (after.known.inbox?.askedAtMs ?? -1) < after.known.deadlineAtMs)
    return 'a person is asked at the deadline, and the inbox was not read since';
  const send = before.known.running.find((step) => step.do === 'send');
  const isMarked = before.attempt?.does !== 'post' && after.attempt?.does === 'post';
  if (send !== undefined && isMarked && hasUnjudged(before, send.reviewed))
    return 'a claim is marked, and the inbox holds a trusted event that was not judged';
  const begun = after.known.running.filter(({ id }) => !before.known.running.some((one) => one.id === id));
  const isSameInvoice = given !== null && after.known.refundInvoice?.given?.paymentHash === given.paymentHash;
  const isAgain = isSameInvoice && handOver !== undefined;
  if (begun.some((step) => step.do === 'hand-over') && (isAgain || !setting.isLive))
    return 'a refund invoice is handed over again, or to a service that takes none';
  if (begun.some((step) => step.do === 'send') && after.nowMs >= after.known.deadlineAtMs)
    return 'a send is begun after the deadline';
  const v = viewIn(setting, after);
  const isReadable = v.is.inboxRead || !v.is.inboxAsked;
  if (isNewQuestion && before.known.parked === null && v.postStep.do === 'repeat' && isReadable)
    return 'a person is asked, and the setting allows a repeat';
  const carrying = begun.find((step) => OF_ORDERS.includes(step.do) && step.order !== undefined);
  if (carrying !== undefined && !v.is.inboxRead)
    return `an order is carried out (${carrying.do}), and the inbox was not read`;
  const isUnpaid = v.requestPlan.byOthersToo === true && is !== undefined && !mayBeSent(is) && v.executed !== 'shown';
  const isUnasked = v.known.prepared !== null && (isUnpaid ? is.paid : is?.lookup)?.turn !== after.known.turn;
  if (carrying !== undefined && isUnasked && (isLookup(setting, after) || v.executed !== 'shown'))
    return `an order is carried out (${carrying.do}), and claim and lookup were not asked since it was given`;
  const isGivenUp = is?.answer === 'given-up' && was?.answer !== 'given-up';
  if (isGivenUp && isSameRun && after.nowMs < before.known.deadlineAtMs)
    return 'a send is given up before the deadline: its caller waits for the answer';
  return brokenOrder(setting, before, after) ?? brokenPayOrder(before, after);
}

const AT_DEADLINE: readonly ParkReason[] = ['no_settlement', 'unverified_settlement', 'no_decision', 'refund_pending'];

const OF_ORDERS: readonly StepName[] = ['order-send', 'close', 'last-word'];

/** What these have begun takes no effect by itself. */
const MAY_BE_DROPPED: readonly StepName[] = ['void', 'check-invoice'];

const CANCEL_REFUSED: readonly string[] = [
  'paid_by_another_way',
  'payment_unclear',
  'money_may_have_moved',
  'event_reports_it',
  'store_unavailable',
  'flow_ended',
];

/** I8: no order is carried out against what was proven at that moment, in the flow or in its inbox. */
function brokenOrder(setting: Setting, before: World, after: World): string | null {
  const refused = after.known.orders.find(
    ({ became, id }) => became === 'refused' && before.known.orders.find((one) => one.id === id)?.became !== 'refused',
  );
  const code = refused?.why?.code;
  if (code === 'inbox_not_read' && after.known.inbox?.turn !== after.known.turn)
    return 'an order is refused for an inbox that was not asked';
  const isMoved = code === 'flow_moved_on' || code === 'decided_meanwhile';
  if (isMoved && refused?.action === 'refund-invoice') return 'a refund invoice answers no question';
  if (code === 'invoice_refused' && refused?.result === null) return 'a refund invoice is refused that was not checked';
  if (refused?.action === 'cancel' && !CANCEL_REFUSED.includes(refused.why?.code ?? ''))
    return `a cancel is refused: ${refused.why?.code ?? ''}`;
  if (refused !== undefined && refused.result === null && after.end === null) {
    if (before.known.running.some((step) => step.order === refused.id && !MAY_BE_DROPPED.includes(step.do)))
      return `an order (${refused.action}) is refused while the store carries it out`;
    const stands = after.known.parked !== null && after.known.parked.sinceMs === refused.parkedSinceMs;
    const isLegal = after.known.parked?.actions.some((action) => action === refused.action) === true;
    if (stands && isLegal && refused.why?.code === 'flow_moved_on')
      return `an order (${refused.action}) is refused, and its question stands`;
  }
  const done = after.known.orders.find(
    ({ became, id }) =>
      became === 'carried-out' && before.known.orders.find((one) => one.id === id)?.became !== 'carried-out',
  );
  if (done === undefined) return null;
  const { action } = done;
  const proofs = inTimeOf(setting, after)
    .filter(({ trusted, facts }) => trusted && facts['amount'] === undefined)
    .map(({ status }) => meaningIn(setting, status));
  const shown = before.known.parked?.endings ?? [];
  // Events of a kind that is only hinted prove nothing.
  const areProofs = setting.plan.isOnlyHinted !== true;
  const isPaid = areProofs && proofs.includes('succeeded') && !shown.includes('completed');
  const isBack = areProofs && proofs.includes('refunded') && !shown.includes('refunded');
  if ((action === 'mark-failed' || action === 'close-not-executed') && (isPaid || isBack))
    return `${action} is carried out against a proof`;
  if (action === 'mark-refunded' && isPaid && !isBack) return 'mark-refunded is carried out against a proof';
  if (action === 'mark-completed' && isBack) return 'mark-completed is carried out against a proof';
  if (action === 'mark-failed' && after.post.flights.length > 0) return 'marked as failed with a POST on its way';
  const isRead = after.known.inbox?.says === 'read' && after.known.inbox.turn >= after.known.turn - 1;
  if (action === 'trust-settlement' && !isRead) return 'an event is vouched for, and the inbox was not read';
  if (action === 'cancel' && sentOf(after.post.claim) === 'unknown') return 'cancelled, and its claim was in sending';
  return null;
}

const postsOf = ({ plan }: Setting, w: World) => plan.requests.map(({ name }) => postOf(w, name));

/** Where a world without faults, new events and persons comes to rest: at an end, or with a person who was asked. */
export function brokenRest({ end, known, decision }: World): string | null {
  if (end !== null) return null;
  if (known.parked === null) return `it runs, and nothing happens any more (${decision.rule})`;
  if (known.orders.some(({ became }) => became === null)) return `an order waits for ever (${decision.rule})`;
  return null;
}
