import type { Cause } from '../../src/protocol/causes.js';
import { orderRefusal, POST_ORDERS, refusalOf, type PostOrder } from '../../src/protocol/legal-orders.js';
import { PAID_BY_ANOTHER_WAY } from '../../src/protocol/messages.js';
import { PARK_ACTIONS, type ParkReason } from '../../src/protocol/vocabulary.js';
import type { Action, Input, Known, NewOrder, Order, Step } from './known.js';
import type { End, OrderRule, Ordered, Reply, View } from './plan.js';
import { look, lookAtStatus, lookPaid, readInbox, step, stop } from './situation.js';
import { mayBeSent } from './view.js';

export const refuse = ({ order }: Pick<Ordered, 'order'>, why: Cause): Reply => ({
  says: { is: 'refused', order: order.id, why },
});
const carryOut = ({ order }: Ordered): Reply => ({ says: { is: 'carried-out', order: order.id } });
const isCancel = ({ order }: Ordered): boolean => order.action === 'cancel';
const goesOn = (): Reply => ({});

/** These end nothing and send nothing. */
const HARMLESS: readonly string[] = [
  'keep-waiting',
  'accept-event',
  'dismiss-event',
  'confirm-handed-over',
  'report-again',
];

export const ORDER_RULES: readonly OrderRule[] = [
  {
    name: 'cancel-too-late',
    says: 'Once money may have moved, or a trusted event reports it, a cancel is refused.',
    when: (o) => isCancel(o) && whyNoCancel(o.v) !== null,
    follows: (o) => refuse(o, whyNoCancel(o.v) ?? MAY_HAVE_MOVED),
  },
  {
    name: 'cancel-unclear',
    says: 'A cancel is refused while it is not known whether others have paid.',
    when: (o) => isCancel(o) && o.v.is.asked && isUnclear(o.v),
    follows: (o) => refuse(o, MAYBE_PAID),
  },
  {
    name: 'cancel-cannot-tell',
    says: 'A cancel is refused if the store cannot say whether money moved; it may carry it out yet.',
    when: (o) => isCancel(o) && o.v.known.stop?.order === o.order.id && o.v.known.stop.says === 'no-answer',
    follows: (o) => refuse(o, STORE_UNAVAILABLE),
  },
  {
    name: 'cancel-not-voided',
    says: 'A cancel is refused if the claims cannot be voided: what the service turned away it may have executed.',
    when: (o) => isCancel(o) && o.v.is.stopAsked && o.v.known.stop?.order === o.order.id,
    follows: (o) => refuse(o, MAYBE_PAID),
  },
  {
    name: 'order-not-voided',
    says: 'An order that closes what was never sent is refused if the store did not void the claims, or does not answer.',
    when: (o) =>
      !isCancel(o) &&
      o.situation.isCheck !== true &&
      o.v.known.stop?.order === o.order.id &&
      o.v.known.stop.says !== 'done',
    follows: (o) => refuse(o, o.v.known.stop?.says === 'no-answer' ? STORE_UNAVAILABLE : MOVED_ON),
  },
  {
    name: 'cancel',
    says: 'A cancel voids the claims of the flow, or changes nothing; nothing else is begun meanwhile.',
    when: isCancel,
    follows: ({ v, order }) => ({ instead: stop(v, 'cancelled', order.id).steps }),
  },
  {
    name: 'order-closed',
    says: 'The store has closed the claim as not executed: the inbox, read last, decides what follows.',
    when: ({ v, situation, order }) => isClosed(v, order) && (situation.isCheck === true || v.is.underWay),
    follows: goesOn,
  },
  {
    name: 'order-result',
    says: 'The store has carried out an order, or has not: that is the reply.',
    when: ({ order }) => order.result !== null && order.result !== 'closed',
    follows: (o) => (o.order.result === 'taken' || isClosed(o.v, o.order) ? carryOut(o) : refuse(o, whyNotDone(o))),
  },
  {
    name: 'order-under-way',
    says: "What was put to the store is not taken back: the store's answer is the reply.",
    when: ({ v, order }) => v.known.running.some((one) => one.order === order.id),
    follows: ({ v, order }) => ({ steps: v.known.running.filter((one) => one.order === order.id) }),
  },
  {
    name: 'order-waits',
    says: 'While the question is checked once more, an order about it waits.',
    when: ({ v, situation, order }) => situation.isCheck === true && isAbout(v.known, order),
    follows: goesOn,
  },
  {
    name: 'moved-on',
    says: 'An order answers the question that its person saw: if that has changed, it is refused.',
    when: ({ v: { known }, situation, order }) =>
      !isAbout(known, order) ||
      !isSameQuestion(known.parked?.reason, situation.park, order.action) ||
      (situation.about ?? null) !== (known.parked?.about ?? null) ||
      !(known.parked?.actions ?? []).some((action) => action === order.action),
    follows: (o) => refuse(o, o.v.endings.length > 0 ? DECIDED : MOVED_ON),
  },
  {
    name: 'harmless',
    says: 'An order that ends nothing and sends nothing needs no further check.',
    when: ({ order }) => HARMLESS.includes(order.action),
    follows: carryOut,
  },
  {
    name: 'order-reads-inbox',
    says: 'Every other order is checked against the inbox,',
    when: ({ v }) => !v.is.inboxAsked,
    follows: ({ v }) => ({ steps: [readInbox(v)] }),
  },
  {
    name: 'order-inbox-unread',
    says: 'and is refused if that cannot be read, for it may say otherwise;',
    when: ({ v }) => !v.is.inboxRead,
    follows: (o) => refuse(o, CANNOT_READ),
  },
  {
    name: 'order-looks',
    says: 'and against the claim and the service, where it can be asked.',
    when: ({ v }) => !isLookedAt(v),
    follows: ({ v }) => ({
      steps: [v.executed === 'shown' ? lookAtStatus(v) : isUnpaidByUs(v) ? lookPaid(v) : look(v)],
    }),
  },
  {
    name: 'order-vouches',
    says: 'A person vouches for an event, which counts as proven from then on.',
    when: ({ order }) => order.action === 'trust-settlement',
    follows: carryOut,
  },
  {
    name: 'order-against-proof',
    says: 'An order replaces missing proof, and never stands against proof.',
    when: (o) => whyNot(o) !== null,
    follows: (o) => refuse(o, whyNot(o) ?? DECIDED),
  },
  {
    name: 'order-given',
    says: 'What is to be sent by the order of a person is sent by the flow, as everything is.',
    when: ({ order }) => order.action === 'refund-now',
    follows: carryOut,
  },
  {
    name: 'order-too-early',
    says: 'While the POST may be under way, neither another send is safe, nor to say that it failed.',
    when: ({ v, order }) => v.is.underWay && IN_WINDOW.includes(order.action),
    follows: (o) => refuse(o, underWay(o.v)),
  },
  {
    name: 'order-carry-out',
    says: "Nothing stands against it: the store carries it out, in the claim's own transaction.",
    when: () => true,
    follows: ({ v, order }) => {
      if (order.action === 'close-not-executed' && isUnpaidByUs(v) && v.request.sent === 'nothing')
        return { steps: [step('void', '', v.known.turn, { stop: 'closed', order: order.id })] };
      const what = STEP_OF[order.action] ?? 'last-word';
      return { steps: [step(what, v.requestPlan.name, undefined, { order: order.id })] };
    },
  },
];

/** The first rule that applies: a kind's own come first. */
export function orderRuleFor(o: Ordered, without?: string): OrderRule | undefined {
  const applies = (one: OrderRule): boolean => one.name !== without && one.when(o);
  return o.v.plan.orderRules?.find(applies) ?? ORDER_RULES.find(applies);
}

/** The claim is closed as not executed, and nothing says otherwise. */
const isClosed = (v: View, order: Order): boolean =>
  order.result === 'void' && !v.is.reported && v.executed !== 'shown';

const STEP_OF: Readonly<Partial<Record<string, Step['do']>>> = {
  'send-again': 'order-send',
  'close-not-executed': 'close',
};
const IN_WINDOW: readonly string[] = ['send-again', 'close-not-executed', 'mark-failed'];

const isAbout = ({ parked }: Known, { parkedSinceMs, action }: Pick<Order, 'parkedSinceMs' | 'action'>): boolean =>
  parked !== null && parked.sinceMs === parkedSinceMs && parked.actions.some((one) => one === action);

/** Each of these asks what became of a POST: between them goes a lookup that answers at one moment and not at another. */
const DOUBTS: readonly (ParkReason | undefined)[] = [
  'unknown_outcome',
  'not_found_at_service',
  'could_not_ask',
  'refund_unknown',
];
export const isSameDoubt = (one: ParkReason | undefined, other: ParkReason | undefined): boolean =>
  DOUBTS.includes(one) && DOUBTS.includes(other);

const isSameQuestion = (shown: ParkReason | undefined, now: ParkReason | undefined, action: Action): boolean =>
  shown === now || (isSameDoubt(shown, now) && now !== undefined && PARK_ACTIONS[now].some((one) => one === action));

/** Others can pay it, and we have not: what is asked is whether they have. */
const isUnpaidByUs = ({ requestPlan, request }: View): boolean =>
  requestPlan.byOthersToo === true && (request.claim === 'void' || !mayBeSent(request));
const isUnclear = (v: View): boolean => v.requestPlan.byOthersToo === true && v.request.paid?.says !== 'not-paid';

function whyNoCancel(v: View): Cause | null {
  if (v.is.elsewhere) return PAID_ALREADY;
  if (v.is.maybeSent) return MAY_HAVE_MOVED;
  return v.is.reported ? REPORTED : null;
}

/** Where it cannot be asked (an invalid input has no claim that we could name), the store alone decides. */
const isLookedAt = (v: View): boolean =>
  v.known.prepared === null ||
  (isUnpaidByUs(v) && v.executed !== 'shown' ? v.is.asked : v.request.lookup?.turn === v.known.turn) ||
  (v.executed === 'shown' && !v.is.hasLookup);

/**
 * What is proven against an order. About a POST that nothing shows yet there is more to say than about its ending. What
 * is proven of another's payment, and was shown, proves nothing about ours.
 */
function whyNot(o: Ordered): Cause | null {
  const { v, order } = o;
  const { action } = order;
  if (action === 'cancel' || action === 'refund-invoice' || action === 'pay' || action === 'approve-quote') return null;
  const why = v.plan.whyNot?.(o) ?? null;
  if (why !== null) return why;
  const shown = v.known.parked?.endings ?? [];
  const isRecordOfAnother = v.request.isOther || (v.executed === 'shown' && v.post.lookup === 'other');
  const isOfAnother = isRecordOfAnother || v.plan.mayBeOfAnother?.(v) === true;
  const proven = isOfAnother ? v.endings.filter((ending) => !shown.includes(ending)) : v.endings;
  const byEnding = orderRefusal(action, proven, shown);
  if (byEnding !== null) return byEnding;
  const reason = v.known.parked?.reason;
  const isOfPost = POST_REASONS.some((one) => one === reason) && POST_ORDERS.some((one) => one === action);
  return isOfPost ? refusalOf(action as PostOrder, v.post) : null;
}

/** Reasons about a POST whose outcome is unknown. */
const POST_REASONS: readonly ParkReason[] = [
  'unknown_outcome',
  'not_found_at_service',
  'could_not_ask',
  'duplicate_mismatch',
  'refund_unknown',
];

/** Refused at once, which leaves nothing in the history: what no flow in this state can carry out. Null: it is taken. */
export function mayOrder(known: Known, order: Pick<NewOrder, 'action' | 'parkedSinceMs'>): Cause | null {
  if (order.action === 'cancel') return null;
  if (known.parked === null) return NOT_PARKED;
  if (!isAbout(known, { ...order, action: known.parked.actions[0] ?? order.action })) return MOVED_ON;
  const { actions } = known.parked;
  if (actions.some((action) => action === order.action)) return null;
  return { code: 'unknown_action', text: `"${order.action}" is not possible now. Possible: ${actions.join(', ')}` };
}

/** Refused at once: as far as is known it is too late. */
export const mayCancel = (v: View): Cause | null => (v.is.maybeSent ? MAY_HAVE_MOVED : null);

/** The flow ends: what is left to say to those who ordered. */
export function lastReplies(known: Known, end: End): readonly Input[] {
  return known.orders
    .filter(({ became }) => became === null)
    .map((order) => {
      const isDone = end.order === order.id || (order.action === 'cancel' && end.state === 'cancelled');
      const why: Cause = { code: 'flow_ended', text: `it has ended as ${end.state}` };
      return isDone ? { is: 'carried-out', order: order.id } : { is: 'refused', order: order.id, why };
    });
}

function whyNotDone({ v, order }: Ordered): Cause {
  if (order.result === 'no-answer') return STORE_UNAVAILABLE;
  if (order.result === 'void' && v.mismatches.length > 0) return DIFFERS;
  if (order.result === 'void') return v.is.reported ? REPORTED : DECIDED;
  if (order.why !== null) return order.why;
  return { code: 'claim_closed', text: `its claim is ${v.request.claim}` };
}

const underWay = ({ request }: View): Cause => ({
  code: 'post_under_way',
  text: `its POST may still be under way: order it again after ${new Date(request.underWayUntilMs).toISOString()}`,
});

const MAY_HAVE_MOVED: Cause = { code: 'money_may_have_moved', text: 'money may have moved already' };
const MAYBE_PAID: Cause = { code: 'payment_unclear', text: 'it is not known whether the invoice was paid' };
export const PAID_ALREADY: Cause = { code: PAID_BY_ANOTHER_WAY, text: 'the invoice was paid already' };
const REPORTED: Cause = { code: 'event_reports_it', text: 'a trusted event says that the service has it' };
const DIFFERS: Cause = {
  code: 'event_came',
  text: 'its claim is closed, and a trusted event that differs from what we know came meanwhile: decide about that',
};
const STORE_UNAVAILABLE: Cause = {
  code: 'store_unavailable',
  text: 'the store does not answer, and may carry it out yet',
};
const MOVED_ON: Cause = { code: 'flow_moved_on', text: 'the flow has moved on since the order was given' };
const DECIDED: Cause = { code: 'decided_meanwhile', text: 'what is proven by now decides' };
const NOT_PARKED: Cause = { code: 'not_parked', text: 'the flow is not parked: there is nothing to resolve' };
const CANNOT_READ: Cause = {
  code: 'inbox_not_read',
  text: 'the inbox cannot be read now, or a webhook is still being matched, and may say otherwise: order it again',
};
