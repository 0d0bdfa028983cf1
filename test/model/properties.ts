import { sentOf } from '../../src/protocol/claim-table.js';
import type { StepName } from '../../workflows/core/known.js';
import { isTrusted } from '../../workflows/core/events.js';
import { view, mayBeSent, requestOf } from '../../workflows/core/view.js';
import { isOfCopy } from './here.js';
import { isLookup, requestPlanOf, type Budget, type Setting, type World } from './world.js';

/*
 * What must hold. Each has its exceptions beside it, in words: a service that takes its own "failed" back, what a person
 * accepted, trusted or closed, and a person's order to send again.
 */

/** In every state. Null: all holds; else what does not. */
export function broken(setting: Setting, w: World, most: Budget): string | null {
  if (w.wrong !== null) return w.wrong;
  const { known, post, end } = w;
  // I1. A service that executes a repeated reference again does so only for sends that were ordered.
  if (post.executions > 1 + post.moreSends)
    return `executed ${post.executions} times, and ordered again ${post.moreSends} times`;
  if (known.running.filter((step) => step.do === 'send').length > 1) return 'two sends at a time';
  if (end !== null) return brokenEnd(setting, w);
  const unprepared = known.running.find((step) => known.prepared === null && NEED_TERMS.includes(step.do));
  if (unprepared !== undefined) return `"${unprepared.do}" runs, and the input was not checked`;
  const ran = brokenStep(setting, w);
  if (ran !== null) return ran;
  if (w.decision.says.length > 0) return 'what is reported is reported twice';
  if (known.parked !== null && known.parked.actions.length === 0) return 'parked without a legal order';
  if (isSmooth(w, most) && known.parked !== null) return `parked (${known.parked.reason}), and nothing went wrong`;
  return brokenPark(setting, w);
}

/** No fault, no event, no order, and the service has done what it was asked to do. */
const isSmooth = ({ left, nowMs, known, post }: World, most: Budget): boolean =>
  left.faults === most.faults &&
  left.events === most.events &&
  left.orders === most.orders &&
  nowMs < known.deadlineAtMs &&
  post.record?.ours !== false;

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
function brokenStep({ plan }: Setting, { known, nowMs }: World): string | null {
  const v = view(known, plan, nowMs);
  const runs = (...names: readonly StepName[]): boolean => known.running.some((step) => names.includes(step.do));
  const { request } = v;
  if (runs('send') && request.answer === 'held-back' && request.claim !== 'ordered')
    return 'what an event held back is sent by itself';
  if (runs('follow', 'ask') && request.unaskable !== null) return 'it is asked on, and that is refused each time';
  if (runs('follow') && v.executed === 'shown' && (request.isOther || v.post.lookup === 'other'))
    return 'a record of another payment is followed';
  const isHinted = v.is.hinted && !v.is.looked && v.executed === 'shown' && !v.is.overdue && known.input === 'valid';
  if (runs('follow') && isHinted && known.parked === null && known.orders.every(({ became }) => became !== null))
    return 'an event reports an end, and the lookup is not asked at once';
  if (known.running.some((step) => step.do === 'void' && step.isParked === true && step.order !== undefined))
    return 'a cancel waits for the store for as long as that is away';
  return null;
}

const CHECKS: readonly string[] = ['look', 'look-status', 'read-inbox', 'write-answer'];

function brokenPark(setting: Setting, { known, nowMs, decision }: World): string | null {
  const { parked } = known;
  // Of an invalid input nothing can be compared or looked up.
  if (parked === null || known.prepared === null || decision.wakeAtMs === nowMs) return null;
  const v = view(known, setting.plan, nowMs);
  // A question stands while it is checked once more.
  const isChecked = known.running.some((step) => CHECKS.includes(step.do));
  const isIdle = !isChecked && known.orders.every(({ became }) => became !== null);
  if (!isIdle) return null;
  if (v.state.kind === 'conflict' && !['conflict', 'event_mismatch'].includes(parked.reason))
    return `what is proven excludes one another, and it is parked as ${parked.reason}`;
  const isOfAnother = v.post.lookup === 'other' || v.request.isOther;
  if (v.executed === 'shown' && isOfAnother && !['conflict', 'event_mismatch'].includes(parked.reason))
    return `its record is of another payment, and it is parked as ${parked.reason}`;
  const isProven =
    v.state.kind === 'ended' &&
    v.mismatches.length === 0 &&
    v.claimed.length === 0 &&
    v.post.lookup !== 'other' &&
    !v.request.isOther;
  if (isProven && known.input === 'valid' && parked.reason !== 'step_failed' && known.running.length === 0)
    return `parked (${parked.reason}), although an end is proven`;
  const request = requestOf(known, requestPlanOf(setting).name);
  // Asked within the window, a person could order what the POST overtakes.
  const isOpenQuestion =
    ['not_found_at_service', 'unknown_outcome'].includes(parked.reason) && request.answer !== 'held-back';
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
  if (end === null) return null;
  const { record, claim } = post;
  if (known.orders.some(({ became }) => became === null)) return 'ended, and an order has no reply';
  if (
    end.reason === 'not_executed' &&
    known.orders.some(({ result, became }) => result === 'void' && became === 'refused')
  )
    return 'an order that closed the claim is refused, and the flow ends by it';
  const request = requestOf(known, requestPlanOf(setting).name);
  const isAnswered = request.claim === 'answered' || request.claim === 'rejected';
  if (request.byClaim && isAnswered && request.lookup === null && end.order === undefined)
    return 'ended, and the answer in its claim was not read';
  const isByEvents = end.reason === 'failed_at_service' && !isLookup(setting) && end.order === undefined;
  const failedAtMs = known.events.findLast((one) => isTrusted(one) && one.event.status === 'FAILED')?.atMs;
  if (isByEvents && failedAtMs !== undefined && w.nowMs < failedAtMs + known.graceMs)
    return 'called failed while another event may contradict that';
  if (request.unwritten) return 'ended, and the answer of the service is not written to its claim';
  const trusted = inbox.filter((event) => event.trusted);
  const byOrder = end.order !== undefined || known.events.some(({ said }) => said === 'accepted' || said === 'trusted');
  const byPerson = byOrder || claim.closed;
  const deniesMoney = end.state === 'failed' || end.state === 'expired' || end.state === 'cancelled';
  if (deniesMoney && !byPerson) {
    const hasFailed =
      request.words.includes('FAILED') || known.events.some(({ event }) => event.trusted && event.status === 'FAILED');
    const isDead =
      record?.word === 'FAILED' || record?.word === 'REVERSED' || (record?.word === 'DECLINED' && !isOfCopy(post));
    const isAlive = record?.ours === true && !isDead;
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
      (one) => isTrusted(one) && one.event.status === 'SUCCESSFUL' && one.said !== 'dismissed',
    );
    if (isAgainst && end.reason !== 'failed_at_service')
      return `ended ${end.state} (${end.reason}), and a trusted event says: SUCCESSFUL`;
  }
  if ((end.state === 'cancelled' || end.state === 'expired') && sentOf(claim) === 'unknown')
    return `ended ${end.state}: before any money moved, and its claim was in sending`;
  const isDenied = claim.phase === 'rejected' || claim.phase === 'void';
  if (!deniesMoney && !byOrder && isDenied && !request.proofWritten)
    return `ended ${end.state}, and its claim is ${claim.phase}`;
  if (end.reason === 'not_executed' && post.flights.length > 0) return 'closed as not executed with a POST on its way';
  if (
    end.state === 'completed' &&
    !byPerson &&
    !(record?.ours === true && (record.word === 'SUCCESSFUL' || record.word === 'REVERSED'))
  )
    return `completed, and the service has: ${record?.word ?? 'nothing'}`;
  if (end.state === 'refunded' && !byPerson && !(record?.ours === true && record.word === 'REVERSED'))
    return `refunded, and the service has: ${record?.word ?? 'nothing'}`;
  if (end.state === 'expired' && w.nowMs < known.deadlineAtMs) return 'expired before the deadline';
  return null;
}

/** If results take time, what came in after the flow's last reading is late. */
const inTimeOf = ({ isSlow }: Setting, { inbox, read }: World): World['inbox'] =>
  isSlow ? inbox.slice(0, read) : inbox;

/** Of one move. */
export function brokenMove(setting: Setting, before: World, after: World): string | null {
  const name = requestPlanOf(setting).name;
  const isSameRun = after.known.turn >= before.known.turn && after.known.input !== 'unchecked';
  const lost = before.known.events.filter(
    ({ event }) => event.trusted && !after.known.events.some((one) => one.event.id === event.id),
  );
  if (isSameRun && lost.length > 0) return 'a trusted event is forgotten';
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
  const isAtDeadline = shown?.reason === 'no_settlement' || shown?.reason === 'unverified_settlement';
  const isNewQuestion = shown !== null && shown.sinceMs !== before.known.parked?.sinceMs;
  if (isNewQuestion && isAtDeadline && (after.known.inbox?.askedAtMs ?? -1) < after.known.deadlineAtMs)
    return 'a person is asked at the deadline, and the inbox was not read since';
  const isGivenUp = is?.answer === 'given-up' && was?.answer !== 'given-up';
  if (isGivenUp && isSameRun && after.nowMs < before.known.deadlineAtMs)
    return 'a send is given up before the deadline: its caller waits for the answer';
  return brokenOrder(setting, before, after);
}

/** I8: no order is carried out against what was proven at that moment, in the flow or in its inbox. */
function brokenOrder(setting: Setting, before: World, after: World): string | null {
  const refused = after.known.orders.find(
    ({ became, id }) => became === 'refused' && before.known.orders.some((one) => one.id === id && one.became === null),
  );
  if (refused !== undefined && refused.result === null && after.end === null) {
    if (before.known.running.some((step) => step.order === refused.id && step.do !== 'void'))
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
    .map(({ status }) => status);
  const shown = before.known.parked?.endings ?? [];
  const isPaid = proofs.includes('SUCCESSFUL') && !shown.includes('completed');
  const isBack = proofs.includes('REVERSED') && !shown.includes('refunded');
  if ((action === 'mark-failed' || action === 'close-not-executed') && (isPaid || isBack))
    return `${action} is carried out against a proof`;
  if (action === 'mark-refunded' && isPaid && !isBack) return 'mark-refunded is carried out against a proof';
  if (action === 'mark-completed' && isBack) return 'mark-completed is carried out against a proof';
  if (action === 'cancel' && sentOf(after.post.claim) === 'unknown') return 'cancelled, and its claim was in sending';
  return null;
}

/** Where a world without faults, new events and persons comes to rest: at an end, or with a person who was asked. */
export function brokenRest({ end, known, decision }: World): string | null {
  if (end !== null) return null;
  if (known.parked === null) return `it runs, and nothing happens any more (${decision.rule})`;
  if (known.orders.some(({ became }) => became === null)) return `an order waits for ever (${decision.rule})`;
  return null;
}
