import type { EndReason } from '../../src/protocol/vocabulary.js';
import { NOT_SENT, type Known, type Step, type StepName, type StopEnd } from './known.js';
import type { End, Situation, View } from './plan.js';

export function step(what: StepName, request: string, turn?: number, more: Partial<Step> = {}): Step {
  const { stop: end = '', looksFirst, isParked, knows, order = '', event = '' } = more;
  const parked = isParked === true ? `parked ${knows ?? ''}`.trim() : '';
  const ways = [looksFirst === true ? 'looks' : '', parked];
  const id = [what, request, turn ?? '', end, ...ways, order, event].join(' ').trim();
  return { id, do: what, request, turn: turn ?? 0, ...more };
}

/** Of this turn: what was read in an earlier one says nothing any more. */
export const readInbox = ({ known }: View): Step => step('read-inbox', '', known.turn);
/** A person has been asked, so it is tried for as long as the store is away. */
export const readInboxOn = ({ known }: View): Step => step('read-inbox', '', known.turn, { isParked: true });
export const look = ({ requestPlan, known }: View): Step => step('look', requestPlan.name, known.turn);
export const lookAtStatus = ({ requestPlan, known }: View): Step => step('look-status', requestPlan.name, known.turn);
export const writeAnswer = ({ requestPlan }: View): Step => step('write-answer', requestPlan.name);
const takeBack = ({ requestPlan, request }: View): Step =>
  step('take-back', requestPlan.name, undefined, request.holdBackFailed ? { isParked: true } : {});
/** Before anything else is decided; a person is asked if the store does not answer, and it is tried on. */
export const takenBack = (v: View): Situation =>
  v.request.holdBackFailed ? { steps: [takeBack(v)], park: 'could_not_ask' } : { steps: [takeBack(v)], isCheck: true };
export const orderSend = ({ requestPlan, known }: View): Step => step('order-send', requestPlan.name, known.turn);

export function send(v: View): Step {
  const { requestPlan, request } = v;
  const debt = requestPlan.debtOf?.(v);
  const more = { ...(request.unasked ? { unasked: true } : {}), ...(debt === undefined ? {} : { debt }) };
  return step('send', requestPlan.name, undefined, more);
}

/** The service has shown a record of another request under the same reference. */
export const isOfAnother = ({ request, post }: View): boolean => request.isOther || post.lookup === 'other';
/** An event proves it, or the claim was read and not what it holds; and claim and lookup were not asked since its send. */
export const isSought = ({ post, request }: View): boolean =>
  request.lookup === null &&
  ((post.trusted === 'shown' && post.claim !== 'answered') ||
    (request.byClaim && (request.claim === 'answered' || request.claim === 'rejected')));
/** These void one claim, and end nothing by that. */
const OF_ONE: readonly StopEnd[] = ['paid', 'refunded'];
/** The store has voided all claims of the flow: the end is decided. */
export const isStopped = ({ stop: tried }: Known): boolean => tried?.says === 'done' && !OF_ONE.includes(tried.for);

/** What runs goes on. */
export const sendOf = ({ send }: View): readonly Step[] => (send === undefined ? [] : [send]);

/** Claim and lookup, again and again, ever more slowly. A record that is missing is news until that is so for a window. */
export function ask({ known, requestPlan, request: { lookup, windowOver } }: View): Step {
  if (known.parked === null) return step('ask', requestPlan.name);
  const isOpen = lookup === null || lookup.says === 'no-lookup' || (lookup.says === 'absent' && !windowOver);
  return step('ask', requestPlan.name, undefined, { isParked: true, knows: isOpen ? 'cannot-tell' : lookup.says });
}

/** The status of a payment that the service has, until it is a new one. */
export const follow = (v: View): readonly Step[] => {
  if (!v.is.hasLookup) return [];
  return [step('follow', v.requestPlan.name, undefined, v.known.parked === null ? {} : { isParked: true })];
};

/** While a person decides, the service is asked on. */
export const askOn = (v: View): readonly Step[] => {
  // What is refused each time is asked again if an event hints at more.
  if (v.is.sending || v.request.unaskable !== null) return [];
  if (v.executed === 'shown') return follow(v);
  // A claim that is closed, or reserved, says nothing new by itself.
  return v.request.claim === 'sending' ? [ask(v)] : [];
};

export const compare = ({ over }: View): Step => step('compare', over.at(-1) ?? '');
export const lookPaid = ({ requestPlan, known }: View): Step => step('look-paid', requestPlan.name, known.turn);
/** What is refused each time is not asked on: an event asks once more. */
const askPaid = ({ requestPlan, request, known }: View): readonly Step[] =>
  request.unaskable === null
    ? [step('ask-paid', requestPlan.name, undefined, known.parked === null ? {} : { isParked: true })]
    : [];

/**
 * Others can do it, too: whether they have is asked before a send of ours, and before every end that says that nothing
 * moved. Null: they have not.
 */
export function unlessPaid(v: View): Situation | null {
  const { request, requestPlan, known } = v;
  // What the service has of ours says how that ended.
  if (requestPlan.byOthersToo !== true || v.executed === 'shown') return null;
  if (!v.is.asked) return { steps: [lookPaid(v), ...sendOf(v)], isCheck: true };
  if (request.paid?.says === 'not-paid' && v.reporting.length === 0) return null;
  if (v.is.overdue) return { steps: [...askPaid(v), ...sendOf(v)], park: 'payment_unclear' };
  return { steps: [...askPaid(v), ...sendOf(v)], wakeAtMs: known.deadlineAtMs };
}

/** An attempt that runs looks first; an older copy could show it that nothing was paid. */
export function voidOurs(v: View): readonly Step[] {
  if (v.request.claim === 'void') return [];
  return [step('void', '', v.known.turn, { stop: 'paid', ...(isVoidTried(v) ? { isParked: true } : {}) })];
}
export const isVoidTried = ({ is, known }: View): boolean => is.stopAsked && known.stop?.for === 'paid';

/** One claim alone, which must never be sent under any more. Null: it is closed. */
export function voidOnly({ known, is }: View, name: string, end: StopEnd): Situation | null {
  const { claim, sent } = known.requests[name] ?? NOT_SENT;
  if (claim === 'void' || claim === 'rejected') return null;
  const wasTried = is.stopAsked && known.stop?.for === end;
  const looksFirst = claim === 'reserved' && sent === 'turned-away';
  const more = {
    stop: end,
    only: name,
    ...(looksFirst ? { looksFirst } : {}),
    ...(wasTried ? { isParked: true } : {}),
  };
  const steps = [step('void', '', known.turn, more)];
  return wasTried ? { steps, park: 'conflict', about: name } : { steps, isCheck: true };
}

/** As far as is known nothing was sent: the store says so, in the transaction that reads the inbox and voids the claims. */
export function stop(v: View, end: StopEnd, order?: string): Situation {
  const asks = unlessPaid(v);
  if (asks !== null) return asks;
  const looksFirst = v.is.hasLookup && v.request.claim === 'reserved' && v.request.sent === 'turned-away';
  // PENDING is shown before a payment, too: whether it was executed is unknown, and it is not sent any more.
  if (looksFirst && v.is.stopAsked && v.requestPlan.byOthersToo === true) return { steps: [], park: 'unknown_outcome' };
  const more = {
    stop: end,
    ...(order === undefined ? {} : { order }),
    ...(looksFirst ? { looksFirst } : {}),
    ...(end === 'expired' && v.is.sending ? { awaitsSend: true } : {}),
    ...(v.is.stopAsked ? { isParked: true } : {}),
  };
  const steps = [step('void', '', v.known.turn, more), ...sendOf(v)];
  return v.is.stopAsked ? { steps, park: looksFirst ? 'could_not_ask' : 'step_failed' } : { steps, isCheck: true };
}

/**
 * An end that denies that money moved: no POST is under way, and the inbox, read after that, brings nothing new.
 * @param isAnswered a person has said that others have not paid
 */
export function endUnmoved(v: View, state: End['state'], reason: EndReason, isAnswered = false): Situation {
  const { underWayUntilMs } = v.request;
  const asks = isAnswered ? null : unlessPaid(v);
  if (asks !== null) return asks;
  if (v.is.underWay) return { steps: [], wakeAtMs: underWayUntilMs };
  if (v.is.inboxRead && (v.known.inbox?.askedAtMs ?? 0) >= underWayUntilMs)
    return { steps: [], end: { state, reason } };
  if (v.is.inboxAsked && !v.is.inboxRead) return { steps: [readInboxOn(v)], park: 'step_failed' };
  return { steps: [readInbox(v)], isCheck: true };
}
