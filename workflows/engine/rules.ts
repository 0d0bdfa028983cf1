import { maySend, parkReasonOf } from '../../src/protocol/decisions.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import { isFinal } from '../../src/protocol/statuses.js';
import type { Order } from './known.js';
import type { End, Rule, Situation, View } from './plan.js';
import {
  ask,
  askOn,
  endUnmoved,
  follow,
  isOfAnother,
  isSought,
  isStopped,
  isVoidTried,
  look,
  lookAtStatus,
  orderSend,
  readInbox,
  readInboxOn,
  send,
  sendOf,
  step,
  stop,
  takenBack,
  voidOurs,
  writeAnswer,
} from './situation.js';
import { hasTried } from './view.js';

/** What nothing may interrupt. */
const FIRST: readonly Rule[] = [
  {
    name: 'closed-by-order',
    says: 'A person has decided how the flow ended, and the store has closed its claims: that is the end.',
    when: (v) => lastWord(v) !== undefined,
    follows: (v) => ({ steps: [], end: endOfOrder(lastWord(v)) }),
  },
  {
    name: 'closed-not-executed',
    says: 'A person has closed the claim as not executed, and no trusted event says otherwise: that is the end.',
    // A later order may have voided them all: then that one is the end.
    when: (v) => closedBy(v) !== undefined && !isStopped(v.known) && !v.is.reported && v.executed !== 'shown',
    follows: (v) =>
      withOrder(endUnmoved(v, 'failed', v.requestPlan.closedAs ?? 'not_executed', isAnswered(v)), closedBy(v)),
  },
  {
    name: 'stopped',
    says: 'The store has voided all claims of the flow before anything was sent: that is the end.',
    when: (v) => isStopped(v.known) && !isInTheWay(v) && !v.is.reported && !v.is.elsewhere,
    follows: (v) => ({ steps: [], end: endOfStop(v) }),
  },
  {
    name: 'check',
    says: 'First the input is checked and the claims are read: an earlier run of the flow may have sent.',
    when: (v) => v.known.input === 'unchecked' && (!v.is.overdue || v.is.reported || hasTried(v) || v.is.watches),
    follows: (v) =>
      v.is.overdue
        ? { steps: [step('check', '')], park: 'step_failed' }
        : { steps: [step('check', '')], wakeAtMs: v.known.deadlineAtMs },
  },
  {
    name: 'sending',
    says: 'A send that was begun is awaited until the deadline: its answer is the best proof there is.',
    when: (v) => v.is.sending && !v.is.overdue && !v.is.elsewhere,
    follows: (v) => ({ steps: sendOf(v), wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'paid-while-sending',
    says: 'It was paid by another way while ours may be sent yet: its claim is voided, and that payment is followed.',
    when: (v) => v.is.elsewhere && (v.is.sending || v.request.claim === 'reserved') && v.request.claim !== 'void',
    follows: (v) => {
      const steps = [...voidOurs(v), ...sendOf(v)];
      return isVoidTried(v) ? { steps, park: 'step_failed' } : { steps };
    },
  },
  {
    name: 'invalid',
    says: 'The input cannot be sent: void the claims, and end.',
    when: (v) => v.known.input === 'invalid' && !v.is.maybeSent && !v.is.reported && v.executed !== 'shown',
    follows: (v) => stop(v, 'invalid'),
  },
  {
    name: 'invalid-and-sent',
    says: 'The input is invalid, so that nothing can be looked up, and money may have moved: a person decides.',
    when: (v) => v.known.input === 'invalid' && v.known.prepared === null,
    follows: () => ({ steps: [], park: 'step_failed' }),
  },
  {
    name: 'take-back',
    says: 'Another send was ordered and must not be made any more, or the store did not say whether it was: that is taken back before anything else.',
    when: (v) =>
      v.request.maybeOrdered ||
      (v.request.claim === 'ordered' && (v.is.overdue || v.known.input === 'invalid' || !maySend(v.post))),
    follows: takenBack,
  },
  {
    name: 'write-answer',
    says: 'What the service answered is written to its claim before anything else is decided.',
    when: (v) => v.request.unwritten,
    follows: (v) => ({ steps: [writeAnswer(v)] }),
  },
  {
    name: 'differs',
    says: 'A trusted event differs from what we know: a person says whether it is of this payment.',
    when: (v) => v.mismatches.length > 0,
    follows: (v) => ({ steps: [], park: 'event_mismatch', about: v.mismatches[0]?.of.event.id ?? '' }),
  },
  {
    name: 'expire',
    says: 'The deadline passed, and as far as is known nothing was sent: void the claims, and end.',
    when: (v) => v.is.overdue && !v.is.maybeSent && !v.is.reported && v.executed !== 'shown',
    follows: (v) => stop(v, 'expired'),
  },
];

/** About the answer to a POST. */
const OF_ANSWER: readonly Rule[] = [
  {
    name: 'other-request',
    says: 'Another request was made under this reference: this one was never sent, and what is reported is of that one.',
    when: (v) =>
      v.request.answer === 'other-request' &&
      !v.is.elsewhere &&
      (v.executed !== 'shown' || v.request.sent === 'nothing'),
    follows: (v) => endUnmoved(v, 'failed', 'other_request_same_reference'),
  },
  {
    name: 'look-for-answer',
    says: 'The service has it, or refused it, and its answer is not known: the claim may hold it.',
    when: (v) => isSought(v) && !v.is.elsewhere,
    follows: (v) => ({ steps: [look(v)], wakeAtMs: v.known.deadlineAtMs, isCheck: true }),
  },
  {
    name: 'write-proof',
    says: 'The service has what its claim says it refused, or what was never sent: that is written, which raises the alarm.',
    when: (v) => v.executed === 'shown' && isClosed(v) && !v.request.proofWritten && !isAgreed(v) && !v.is.elsewhere,
    follows: (v) => ({ steps: [writeAnswer(v)], isCheck: true }),
  },
  {
    name: 'record-of-another',
    says: 'The service accepted it, and its record is of another payment: what it accepted it did not execute.',
    when: (v) => v.executed === 'shown' && isOfAnother(v),
    follows: () => ({ steps: [], park: 'conflict' }),
  },
];

/** About what became of it. */
const GENERAL: readonly Rule[] = [
  {
    name: 'conflict',
    says: 'What is proven excludes one another: a person decides.',
    when: (v) => v.state.kind === 'conflict',
    follows: () => ({ steps: [], park: 'conflict' }),
  },
  {
    name: 'succeeded',
    says: 'A proven success, or a proven refund, is the end.',
    when: (v) => v.state.kind === 'ended' && (v.state.meaning === 'succeeded' || v.state.meaning === 'refunded'),
    follows: (v) => ({
      steps: [],
      end: { state: v.endings.includes('completed') ? 'completed' : 'refunded', reason: null },
    }),
  },
  {
    name: 'failed-vetoed',
    says: 'It failed or was refused, and an untrusted event claims another ending: a person decides.',
    when: (v) => v.is.vetoed,
    follows: () => ({ steps: [], park: 'conflict' }),
  },
  {
    name: 'failure-grace',
    says: 'A failure that only events report counts only after a while without contradiction; a lookup is asked meanwhile.',
    when: (v) => hasFailed(v) && v.is.inGrace,
    follows: (v) => ({ steps: v.is.looked ? [] : [lookAtStatus(v)], wakeAtMs: v.graceUntilMs }),
  },
  {
    name: 'failed',
    says: 'A proven failure is the end, unless the inbox says otherwise.',
    when: (v) => hasFailed(v),
    follows: (v) => endUnmoved(v, 'failed', v.plan.ends?.failed[0] ?? 'failed_at_service'),
  },
  {
    name: 'look-at-hint',
    says: 'An event is a hint and the lookup is the truth: it is asked at once.',
    when: (v) => v.executed === 'shown' && v.is.hinted && !v.is.looked,
    follows: (v) => ({ steps: [lookAtStatus(v)], wakeAtMs: v.known.deadlineAtMs, isCheck: true }),
  },
  {
    name: 'funds-held',
    says: 'Money was collected, and its purpose failed: a debt and no failure, so a person decides.',
    when: (v) => v.state.kind === 'funds-held',
    follows: (v) => ({ steps: askOn(v), park: 'crypto_leg_failed' }),
  },
  {
    name: 'refund-failed',
    says: 'A refund is owed, and the service failed to make it: a person decides.',
    when: (v) => v.state.kind === 'ended' && v.state.meaning === 'refund-failed',
    follows: (v) => ({ steps: askOn(v), park: 'refund_failed' }),
  },
  {
    name: 'cannot-be-asked',
    says: 'The lookup that would show more fails in a way that comes again: a person decides.',
    when: (v) => v.request.unaskable !== null && (v.executed === 'shown' || v.request.claim === 'sending'),
    follows: () => ({ steps: [], park: 'step_failed' }),
  },
  {
    name: 'last-look',
    says: 'At the deadline the inbox and the lookup are asked once more.',
    when: (v) => v.executed === 'shown' && v.is.overdue && !v.is.lookedAtDeadline,
    follows: (v) => ({ steps: [readInbox(v), ...(v.is.hasLookup ? [lookAtStatus(v)] : [])], isCheck: true }),
  },
  {
    name: 'overdue',
    says: 'The deadline passed, and no end is proven: a person decides, or a late event.',
    when: (v) => v.executed === 'shown' && v.is.overdue,
    follows: (v) => ({ steps: askOn(v), park: whyOverdue(v) }),
  },
  {
    name: 'follow',
    says: 'The service has it: its status is followed until the deadline.',
    when: (v) => v.executed === 'shown',
    follows: (v) => ({ steps: follow(v), wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'refused',
    says: 'The service refused it: that is the end, unless the inbox says otherwise.',
    when: (v) => v.request.claim === 'rejected',
    follows: (v) => endUnmoved(v, 'failed', 'rejected_by_service'),
  },
  {
    name: 'void',
    says: 'Its claim is void: nothing is sent under it, and that is the end.',
    when: (v) => v.request.claim === 'void',
    follows: (v) => withEnd(endUnmoved(v, 'failed', 'not_executed'), endOfVoid(v)),
  },
  {
    name: 'held-back',
    says: 'A trusted event held it back: the inbox is read, for the event may not have reached the flow.',
    when: (v) => v.request.answer === 'held-back' && !v.is.inboxRead,
    follows: (v) =>
      v.is.inboxAsked ? { steps: [readInboxOn(v)], park: 'could_not_ask' } : { steps: [readInbox(v)], isCheck: true },
  },
  {
    name: 'held-back-for-good',
    says: 'It was held back, and the inbox proves nothing: a person decides.',
    when: (v) => v.request.answer === 'held-back' && v.executed !== 'other',
    follows: (v) => ({ steps: askOn(v), park: 'unknown_outcome' }),
  },
  {
    name: 'send',
    says: 'Nothing is in the way of the send that is due; one that was begun is not awaited past the deadline.',
    when: (v) => (v.postStep.do === 'send' || v.request.claim === 'ordered') && !(v.is.sending && v.is.overdue),
    follows: (v) => ({ steps: [send(v)], wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'wait-for-window',
    says: 'Its outcome is unknown: claim and lookup are asked for the whole confirmation window.',
    when: (v) => v.postStep.do === 'ask-on' && !v.is.overdue && v.nowMs < v.request.askUntilMs + v.known.patienceMs,
    follows: (v) => ({
      steps: [ask(v)],
      wakeAtMs: Math.min(v.request.askUntilMs + v.known.patienceMs, v.known.deadlineAtMs),
    }),
  },
  {
    name: 'look-at-its-end',
    says: 'The window is over, and asking has brought no answer: claim and lookup are asked once more, and a person is shown that.',
    when: (v) => v.postStep.do === 'ask-on' && v.nowMs >= v.request.askUntilMs && isUnasked(v),
    follows: (v) => ({ steps: [look(v)], isCheck: true }),
  },
  {
    name: 'repeat',
    says: 'The setting allows a repeat: the inbox is read, and another send is ordered.',
    when: (v) =>
      v.postStep.do === 'repeat' &&
      v.known.parked === null &&
      !(v.is.inboxAsked && !v.is.inboxRead) &&
      v.requestPlan.mayNotRepeat?.(v) !== true,
    follows: (v) => ({ steps: [v.is.inboxRead ? orderSend(v) : readInbox(v)] }),
  },
  {
    name: 'unknown',
    says: 'Its outcome is unknown, and nothing decides: a person does, and asking goes on.',
    when: () => true,
    follows: (v) => ({ steps: askOn(v), park: whyUnknown(v) }),
  },
];

/** The general ones. A kind's own come between the two lists: nothing may interrupt the first. */
export const RULES: readonly Rule[] = [...FIRST, ...OF_ANSWER, ...GENERAL];

/** The first rule that applies. */
export function ruleFor(v: View, without?: string): Rule | undefined {
  const applies = (one: Rule): boolean => one.name !== without && one.when(v);
  const { rules, settlement } = v.plan;
  const lists = [FIRST, rules, OF_ANSWER, settlement, GENERAL];
  return lists.flatMap((list) => list?.find(applies) ?? [])[0];
}

const CLOSING: readonly string[] = ['mark-completed', 'mark-refunded', 'mark-failed', 'close-without-refund'];
const lastWord = ({ known }: View): Order | undefined =>
  known.orders.find(({ action, result }) => result === 'closed' && CLOSING.includes(action));

/** Also one that the store has carried out without an answer; not one that was refused for what has come since. */
const closedBy = ({ known, request }: View): Order | undefined =>
  known.orders.findLast(
    ({ action, result, became }) =>
      action === 'close-not-executed' &&
      ((result === 'void' && became !== 'refused') || (result === 'no-answer' && request.claim === 'void')),
  );

/** It was closed by the person who was asked whether others have paid. */
const isAnswered = (v: View): boolean =>
  v.known.parked?.reason === 'payment_unclear' && closedBy(v)?.parkedSinceMs === v.known.parked.sinceMs;

function endOfOrder(order: Order | undefined): End {
  const by = order === undefined ? {} : { order: order.id };
  if (order?.action === 'mark-completed') return { state: 'completed', reason: null, ...by };
  if (order?.action === 'mark-refunded') return { state: 'refunded', reason: null, ...by };
  return { state: 'failed', reason: 'closed_by_person', ...by };
}

const withEnd = (situation: Situation, end: End): Situation =>
  situation.end === undefined ? situation : { ...situation, end };

const withOrder = (situation: Situation, order: Order | undefined): Situation =>
  situation.end === undefined || order === undefined
    ? situation
    : { ...situation, end: { ...situation.end, order: order.id } };

function endOfStop({ known: { stop: tried, refusal } }: View): End {
  const by = tried?.order == null ? {} : { order: tried.order };
  if (tried?.for === 'cancelled') return { state: 'cancelled', reason: 'cancelled_before_sending', ...by };
  if (tried?.for === 'card-gone') return { state: 'failed', reason: 'card_details_expired' };
  if (tried?.for === 'closed') return { state: 'failed', reason: 'not_executed', ...by };
  if (tried?.for === 'no-quote') return { state: 'failed', reason: 'quote_rejected' };
  if (tried?.for !== 'invalid') return { state: 'expired', reason: 'deadline_passed' };
  return { state: 'failed', reason: refusal?.reason ?? 'invalid_input' };
}

/** A stop to which the store did not answer may have been carried out: then that is its end. */
function endOfVoid(v: View): End {
  const isStopped = v.known.stop?.says === 'no-answer' && v.request.sent !== 'unknown';
  return isStopped ? endOfStop(v) : { state: 'failed', reason: 'not_executed' };
}

const hasFailed = (v: View): boolean => v.state.kind === 'ended' && v.state.meaning === 'failed';
/** Nobody's input closes a claim that it may not be about: then it stays as it was. */
const isInTheWay = ({ request: { claim } }: View): boolean => !['free', 'reserved', 'void'].includes(claim);
const isClosed = ({ request: { claim } }: View): boolean => claim === 'rejected' || claim === 'void';
/** A proof that it failed agrees with a refusal. */
const isAgreed = ({ endings, ours, request }: View): boolean =>
  request.claim === 'rejected' &&
  endings.length === 1 &&
  endings[0] === 'failed' &&
  ours.every(({ meaning }) => meaning === 'failed');

/** Neither answered since the window is over. */
const isUnasked = ({ request: { lookup, askUntilMs } }: View): boolean => (lookup?.askedAtMs ?? -1) < askUntilMs;

function whyOverdue(v: View): ParkReason {
  const as = v.requestPlan.overdueAs ?? v.plan.overdueAs;
  if (as !== undefined) return as;
  if (v.is.refundPending) return 'refund_pending';
  // A question that is shown stands: an event that proves nothing makes no other one of it.
  if (v.known.parked?.reason === 'no_settlement') return 'no_settlement';
  const isClaimed = v.claimed.some(({ meaning }) => isFinal(meaning));
  const isByEvents = !v.is.hasLookup || v.requestPlan.provenByEvents === true;
  return isClaimed && isByEvents ? 'unverified_settlement' : 'no_settlement';
}

function whyUnknown(v: View): ParkReason {
  const reason = whyUnknownPost(v);
  return reason === 'duplicate_mismatch' ? reason : (v.requestPlan.unknownAs ?? reason);
}

function whyUnknownPost({ postStep, post, request }: View): ParkReason {
  if (postStep.do === 'park') return postStep.reason;
  // Not asked yet; or a record that is missing at one moment, and not for the whole window.
  const isOpen = request.lookup === null || (post.lookup === 'absent' && !post.windowOver);
  return parkReasonOf(isOpen ? 'no-lookup' : post.lookup);
}
