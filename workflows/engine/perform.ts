import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { ClaimAnswer, Voided } from '../../activities/engine-steps.js';
import type { Facts, PostReading, StatusEvidence, StatusReading } from '../../activities/types.js';
import type { Cause } from '../../src/protocol/causes.js';
import { endingsOf, executed } from '../../src/protocol/decisions.js';
import { PAID_BY_ANOTHER_WAY } from '../../src/protocol/messages.js';
import { orderRefusal } from '../../src/protocol/legal-orders.js';
import { wordsThat } from '../../src/protocol/statuses.js';
import { END_REASONS, type ParkAction } from '../../src/protocol/vocabulary.js';
import { checkAtOnce, preparationOf, wasReset } from './activities.js';
import {
  HAND_OVER,
  LAST_LOOK,
  LOOK_WHILE_PARKED_MS,
  POLL,
  READ,
  RECORD_PATIENCE_MS,
  SETTLE_PATIENCE_MS,
  STORE,
  STORE_PATIENCE_MS,
} from './policies.js';
import { factsOf } from './events.js';
import type { ForPersons, Known, Request, Result, Step } from './known.js';
import { unusedInvoices } from './learn-orders.js';
import { hasLookup } from './lookup.js';
import { acts, claimsOf, otherOf, paidIn, termsOf } from './performing.js';
import { send } from './perform-send.js';
import { getQuote, report } from '../bridge/perform.js';
import type { Context, Plan, RequestPlan } from './plan.js';
import { refundAmounts } from './refund-amounts.js';
import { nounOf } from './told.js';
import { mayBeSent, requestOf, view } from './view.js';

/**
 * Carries one step out: one activity, whose result becomes known. It decides nothing. A step whose patience is over says
 * that; a cancelled one throws.
 */
export async function perform(context: Context, step: Step, known: Known): Promise<Result> {
  try {
    return await resultOf(context, step, known);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const { cause, activityType } = error;
    // Its patience is over: the server says so by a timeout, or by the last failure, which could be tried again.
    const isTriedAgain = cause instanceof ApplicationFailure && cause.nonRetryable !== true;
    if (cause instanceof TimeoutFailure || isTriedAgain) return { of: 'no-answer' };
    const refusal = refusalIn(error);
    if (refusal !== null && step.do === 'check')
      return { of: 'check', prepared: null, refusal, claims: {}, events: [] };
    if (refusal !== null && step.do === 'send') return { of: 'unsendable', refusal };
    if (refusal !== null && step.do === 'quote') return { of: 'quote', quote: null, why: refusal.detail };
    // A refused question says nothing about money.
    if (refusal !== null && QUESTIONS.includes(step.do)) return { of: 'cannot-ask', why: refusal.detail };
    // A bug, not an ending: the workflow task fails, and the flow waits for a mended version.
    throw new Error(`unexpected failure of ${activityType}`, { cause: error });
  }
}

const QUESTIONS: readonly Step['do'][] = ['ask', 'look', 'follow', 'look-status', 'compare', 'look-paid', 'ask-paid'];

/** Why the input cannot be sent: an error that comes again at every attempt. */
function refusalIn({ cause }: ActivityFailure): Known['refusal'] {
  if (!(cause instanceof ApplicationFailure)) return null;
  const { type, message } = cause;
  const reason = END_REASONS.find((candidate) => candidate === type);
  return reason === undefined ? null : { reason, detail: message };
}

function resultOf(context: Context, step: Step, known: Known): Promise<Result> {
  switch (step.do) {
    case 'check':
      return check(context);
    case 'send':
      return send(context, step, known);
    case 'ask':
      return ask(context, step, known);
    case 'look':
      return look(context, step, known);
    case 'follow':
      return follow(context, step, known);
    case 'look-status':
      return lookAtStatus(context, step, known);
    case 'read-inbox':
      return inboxOf(context, step, known);
    case 'void':
      return voidAll(context, step, known);
    case 'write-answer':
      return writeAnswer(context, step, known);
    case 'order-send':
      return orderSend(context, step, known);
    case 'take-back':
      return takeBack(context, step, known);
    case 'close':
      return close(context, step, known);
    case 'last-word':
      return lastWord(context, step, known);
    case 'compare':
      return compare(context, step, known);
    case 'look-paid':
    case 'ask-paid':
      return whetherPaid(context, step, known);
    case 'quote':
      return getQuote(context, known);
    case 'report':
      return report(context, step, known);
    case 'check-invoice':
      return checkInvoice(context, step, known);
    case 'hand-over':
      return handOver(context, step, known);
    default:
      return step.do satisfies never;
  }
}

async function check(context: Context): Promise<Result> {
  const order = preparationOf(context, context.rawInput);
  // Bounded by CHECK, and then by the deadline.
  if (context.plan.check === 'checkBridgeTransfer') {
    const slowly = () => acts(context, READ, 'Check the input, get a quote').checkBridgeTransfer(order);
    return { of: 'check', refusal: null, ...(await checkAtOnce('checkBridgeTransfer', order, slowly)) };
  }
  const checked = await checkAtOnce('checkFlow', order, () => acts(context, READ, 'Check the input').checkFlow(order));
  return { of: 'check', refusal: null, ...checked };
}

/** Bounded by the rules: it is given up at the deadline, or goes on while a person decides. */
async function compare(context: Context, step: Step, known: Known): Promise<Result> {
  const order = { flowId: context.flowId, step: step.request, input: known.prepared?.input };
  const theirs = await acts(context, READ, 'Read what was made').lookAtStep(order);
  const other = otherOf(factsOf(known, step.request) ?? {}, theirs);
  return { of: 'compare', other: other.differs.length === 0 ? null : other };
}

async function whetherPaid(context: Context, step: Step, known: Known): Promise<Result> {
  const { plan, timeScale } = context;
  const { settleMs } = known;
  const isOnce = step.do === 'look-paid';
  const isParked = step.isParked === true;
  const v = view(known, plan, Date.now(), undefined, step.request);
  const summary = isParked ? 'Ask on, while a person decides' : 'Look whether it is paid already';
  const asks = acts(context, POLL, summary, isOnce ? settleMs / timeScale + SETTLE_PATIENCE_MS : undefined);
  const found = await asks.whetherPaid({
    reference: termsOf(known, Object.keys(known.prepared?.steps ?? {})[0] ?? '').claim.reference,
    expect: factsOf(known, step.request) ?? {},
    paidByEvent: v.reporting.length > 0,
    // "Not found" is no answer before the end of its window; every other answer is one at once.
    patienceMs: isOnce ? 0 : Math.ceil(LOOK_WHILE_PARKED_MS * timeScale),
    ...(isOnce ? { missingPatienceMs: settleMs } : {}),
    windowMs: settleMs,
    timeScale,
    isParked,
  });
  return { of: 'paid', ...paidIn(known, step.request, found) };
}

/** A refund of ours fixes what it is looked up by. */
function questionOf({ plan }: Context, known: Known, name: string) {
  const { claim, facts, fixed } = termsOf(known, name);
  const { saidToExist } = requestOf(known, name);
  const requestPlan = plan.requests.find((one) => one.name === name);
  const own = requestPlan?.factsOfRecord ?? requestPlan?.factsOf;
  if (own === undefined) return { claim, expect: facts, fixed, saidToExist };
  if (requestPlan === undefined || !hasLookup(known, requestPlan)) return { claim, expect: {}, fixed, saidToExist };
  const ours = own(known);
  return { claim, expect: ours, fixed: ours ?? {}, saidToExist };
}

const factsIn = ({ plan }: Context, known: Known, name: string): Facts => {
  const { factsOf: own, factsOfRecord = own } = plan.requests.find((one) => one.name === name) ?? {};
  return factsOfRecord?.(known) ?? factsOf(known, name) ?? {};
};

async function ask(context: Context, step: Step, known: Known): Promise<Result> {
  const { timeScale } = context;
  const request = requestOf(known, step.request);
  const isParked = step.isParked === true;
  const leftMs = Math.max(0, request.askUntilMs - (step.beganAtMs ?? 0));
  const found = await acts(
    context,
    POLL,
    isParked ? 'Ask on, while a person decides' : 'Ask for its outcome',
  ).settleUnknown({
    ...questionOf(context, known, step.request),
    // Still in its window, it is asked as before.
    windowMs: isParked && leftMs === 0 ? Math.ceil(LOOK_WHILE_PARKED_MS * timeScale) : leftMs,
    confirmMs: known.settleMs,
    timeScale,
    // What the person was shown is no news.
    ...(step.knows !== undefined && (leftMs === 0 || step.knows === 'other') ? { parkedWith: step.knows } : {}),
  });
  return looked('ask', found, request);
}

async function look(context: Context, step: Step, known: Known): Promise<Result> {
  const found = await acts(context, LAST_LOOK, 'Ask once more', SETTLE_PATIENCE_MS).lookAtPost(
    questionOf(context, known, step.request),
  );
  return looked('look', found, null);
}

/** @param asked of a question that goes on for the whole window: what ends it without news is that the window is over */
function looked(of: 'ask' | 'look', found: PostReading, asked: Request | null): Result {
  const { claim, lookup, answer, other, rejection, ours, theirs, why } = found;
  const says = {
    claim,
    lookup,
    saidToExist: asked?.saidToExist ?? false,
    trusted: 'nothing',
    untrusted: false,
  } as const;
  const known = executed({ ...says, windowOver: false, overdue: false });
  const isNews = known === 'shown' || known === 'other' || (known === 'absent' && claim !== 'sending');
  const shown: Partial<ForPersons> = {
    ...(answer === undefined ? {} : { answer }),
    ...(other === undefined ? {} : { other }),
    ...(lookup === 'other' && ours !== undefined && theirs !== undefined ? { other: otherOf(ours, theirs) } : {}),
    ...(rejection === undefined ? {} : { rejection }),
    ...(lookup === 'other' ? { asked: { ours, theirs } } : why === undefined ? {} : { asked: { asked: why } }),
    // Why it could not be asked before says nothing any more.
    ...(lookup === 'absent' ? { asked: null } : {}),
    ...(claim === 'void' && why !== undefined ? { why } : {}),
  };
  return { of, claim, lookup, windowOver: asked !== null && !isNews, isOther: other !== undefined, shown };
}

async function follow(context: Context, step: Step, known: Known): Promise<Result> {
  const { plan, timeScale } = context;
  const { words, lookup } = requestOf(known, step.request);
  const isFirst = words.length === 0 && (lookup === null || lookup.says !== 'shown');
  // A status that is only reported is confirmed soon.
  const isHinted = view(known, plan, Date.now()).is.hinted;
  const seldom =
    plan.lookEveryMs === undefined || isHinted ? {} : { atLeastMs: Math.ceil(plan.lookEveryMs * timeScale) };
  const untilLookMs = isFirst ? plan.firstLookMs : isHinted ? 0 : (plan.lookEveryMs ?? 0);
  const reading = await acts(context, POLL, `Look up ${nounOf(plan, step.request)}`).awaitStatus({
    ...lookedUpAs(context, known, step),
    known: words,
    firstLookMs: step.isParked === true ? 0 : Math.ceil(untilLookMs * timeScale),
    timeScale,
    isParked: step.isParked === true,
    ...seldom,
  });
  return status(reading, context, known, step.request);
}

async function lookAtStatus(context: Context, step: Step, known: Known): Promise<Result> {
  const isOverdue = (step.beganAtMs ?? 0) >= known.deadlineAtMs;
  const order = lookedUpAs(context, known, step);
  const summary = isOverdue ? 'Deadline: look once more' : 'Ask once more';
  const found: StatusEvidence = await acts(context, LAST_LOOK, summary, SETTLE_PATIENCE_MS).lookAtStatus(order);
  if (found.says === 'shown') return status(found.record, context, known, step.request);
  return { of: 'follow', lookup: found.says, word: null, shown: {} };
}

function lookedUpAs({ plan, flowId }: Context, known: Known, { request }: Step) {
  const own = plan.requests.find(({ name }) => name === request)?.lookUpAs;
  const { live } = known.prepared?.pin ?? {};
  const as = own?.(known) ?? { flowId, input: known.prepared?.input };
  return live === undefined ? as : { ...as, live };
}

/** The service answers a repeated reference with its first result: then its record is of another request. */
function status({ status: word, facts: theirs }: StatusReading, context: Context, known: Known, name: string): Result {
  const other = otherOf(factsIn(context, known, name), theirs);
  const isKept = context.plan.requests.some((one) => one.name === name && one.keepsRecord === true);
  if (other.differs.length === 0)
    return { of: 'follow', lookup: 'shown', word, ...(isKept ? { facts: theirs } : {}), shown: {} };
  return { of: 'follow', lookup: 'other', word: null, shown: { other } };
}

/** A person who was asked has all the time there is: then nothing is added to the history while the store is away. */
const patienceOf = ({ isParked }: Step, ms: number): number | undefined => (isParked === true ? undefined : ms);

async function inboxOf(context: Context, step: Step, known: Known): Promise<Result> {
  const [claim] = claimsOf(known);
  const order = { flowId: context.flowId, ...(claim === undefined ? {} : { claim }) };
  const store = acts(context, STORE, 'Read the inbox', patienceOf(step, STORE_PATIENCE_MS));
  return { of: 'read-inbox', events: await store.readInbox(order) };
}

function claimOf(known: Known, name: string): ClaimAnswer {
  const { claim, sent: sentBefore } = requestOf(known, name);
  return { claim, sent: sentBefore };
}

/** Those that have a claim. */
const ownOf = ({ requests }: Plan): readonly RequestPlan[] => requests.filter(({ watching }) => watching === undefined);

const STOP_REASONS = {
  cancelled: 'cancelled',
  expired: 'expired',
  invalid: 'invalid_input',
  'card-gone': 'card_details_expired',
  closed: 'not_executed',
  paid: PAID_BY_ANOTHER_WAY,
  'no-quote': 'quote_rejected',
  refunded: 'refunded by the service or the provider',
} as const;

async function voidAll(context: Context, step: Step, known: Known): Promise<Result> {
  const { flowId, plan, timeScale } = context;
  const { over } = view(known, plan, Date.now());
  // What moved nothing, and was made, stays as it is.
  const isMade = ({ name, movesNothing }: RequestPlan): boolean => movesNothing === true && over.includes(name);
  const isDone = (one: RequestPlan): boolean =>
    step.only === undefined ? isMade(one) && mayBeSent(requestOf(known, one.name)) : one.name !== step.only;
  const done = plan.requests.filter(isDone);
  const open = ownOf(plan).filter((one) => !done.includes(one));
  const asked = open.filter(({ name }) => known.prepared?.steps[name] !== undefined);
  const order = {
    flowId,
    claims: claimsOf(known),
    done: done.map(({ operation }) => operation),
    reason: step.stop === 'invalid' ? (known.refusal?.reason ?? 'invalid_input') : STOP_REASONS[step.stop ?? 'expired'],
    wasReset: wasReset(),
    reviewedEventIds: step.reviewed ?? [],
    known: Object.fromEntries(open.map(({ name, operation }) => [operation, claimOf(known, name)])),
    awaitsSend: step.awaitsSend === true,
    timeScale,
  };
  const looksFirst = step.looksFirst === true;
  // Its own send ends by itself, and within that time.
  const isLong = looksFirst || order.awaitsSend;
  const summary = looksFirst ? 'Void the claims, if the service shows nothing' : 'Void the claims, if nothing was sent';
  const ms = patienceOf(step, isLong ? SETTLE_PATIENCE_MS : STORE_PATIENCE_MS);
  // To look several times takes longer than an attempt with the store alone.
  const store = acts(context, looksFirst ? READ : STORE, summary, ms);
  const found: Voided = looksFirst
    ? await store.voidTurnedAwayFlow({ ...order, questions: asked.map(({ name }) => questionOf(context, known, name)) })
    : await store.voidFlow(order);
  const read = open.map(({ name, operation }) => [name, found.claims[operation]] as const);
  const claims = Object.fromEntries(read.flatMap(([name, claim]) => (claim === undefined ? [] : [[name, claim]])));
  const refs = open.flatMap(({ name, operation }) => {
    const ref = found.refs?.[operation];
    return ref === undefined || known.prepared?.steps[name] !== undefined ? [] : [[name, ref] as const];
  });
  return { of: 'void', isDone: found.isDone, claims, events: found.events, refs: Object.fromEntries(refs) };
}

async function writeAnswer(context: Context, step: Step, known: Known): Promise<Result> {
  const request = requestOf(known, step.request);
  const { claim } = termsOf(known, step.request);
  const { rejection, owner, answer } = request.shown;
  if (request.unwritten && request.answer === 'rejected' && rejection !== null) {
    await acts(context, STORE, 'Write the refusal to its claim', RECORD_PATIENCE_MS).recordRejection({
      ...claim,
      owner,
      rejection,
    });
  } else {
    await acts(context, STORE, 'Write the answer to its claim', RECORD_PATIENCE_MS).recordAnswer({
      ...claim,
      answer: request.unwritten ? answer : null,
    });
  }
  return { of: 'write-answer' };
}

/** Who orders it, and until when its POST may be another one or under way. */
function orderOf(known: Known, step: Step) {
  const order = known.orders.find(({ id }) => id === step.order);
  const request = requestOf(known, step.request);
  const bySetting = { actor: 'DUPLICATE_REFERENCE', note: `the service is set to "${request.repeat}"` };
  return {
    ...termsOf(known, step.request).claim,
    order: order === undefined ? bySetting : { actor: order.actor, note: order.note },
    sentUntilMs: step.beganAtMs ?? 0,
    // Nothing is under way of a POST that the service knew already.
    windowMs: request.answer === 'duplicate' ? 0 : known.settleMs,
  };
}

async function orderSend(context: Context, step: Step, known: Known): Promise<Result> {
  const { order, ...about } = orderOf(known, step);
  const once = step.order === undefined ? order : { ...order, id: step.order };
  const store = acts(context, STORE, 'Order another send', STORE_PATIENCE_MS);
  return { of: 'order-send', ...(await store.orderAnotherSend({ ...about, order: once })) };
}

async function takeBack(context: Context, step: Step, known: Known): Promise<Result> {
  const unconfirmed = known.orders.findLast(({ result }) => result === 'no-answer');
  const order =
    requestOf(known, step.request).maybeOrdered && unconfirmed !== undefined
      ? { actor: unconfirmed.actor, note: 'not sent again: the store did not confirm the order' }
      : { actor: 'deadline', note: 'not sent again: the deadline passed, or an event came' };
  const patience = patienceOf(step, STORE_PATIENCE_MS);
  const store = acts(context, STORE, 'Take back the order to send again', patience);
  return { of: 'take-back', ...(await store.takeOrderBack({ ...termsOf(known, step.request).claim, order })) };
}

async function close(context: Context, step: Step, known: Known): Promise<Result> {
  const store = acts(context, STORE, 'Close the claim as not executed', STORE_PATIENCE_MS);
  return { of: 'close', ...(await store.closeAsNotExecuted(orderOf(known, step))) };
}

/** Not given up while the store does not answer: it could still close the claims. */
async function lastWord(context: Context, step: Step, known: Known): Promise<Result> {
  const order = known.orders.find(({ id }) => id === step.order);
  const action = (order?.action ?? 'mark-failed') as ParkAction;
  const proven = known.parked?.endings ?? [];
  const against = wordsThat((meaning) => orderRefusal(action, [...proven, ...endingsOf([meaning])], proven) !== null);
  // Bounded by its person: the question stays on show, and reminds.
  const why: Cause | null = await acts(context, STORE, 'Close the claims to further sends').closeByLastWord({
    flowId: context.flowId,
    claims: claimsOf(known),
    wasReset: wasReset(),
    action,
    order: { actor: order?.actor ?? '', note: order?.note ?? '' },
    against,
    reviewedEventIds: step.reviewed ?? [],
    // Nothing is called failed that may be executed yet, also if the flow knows of no POST.
    ...(action === 'mark-failed' ? { windowMs: known.settleMs } : {}),
  });
  return { of: 'last-word', isClosed: why === null, why };
}

async function checkInvoice(context: Context, step: Step, known: Known): Promise<Result> {
  const invoice = known.orders.find(({ id }) => id === step.order)?.invoice ?? '';
  const amounts = refundAmounts(view(known, context.plan, Date.now()));
  const question = { flowId: context.flowId, invoice, given: unusedInvoices(known), ...amounts };
  const store = acts(context, READ, 'Check the refund invoice', STORE_PATIENCE_MS);
  const verdict = await store.checkRefundInvoice(question);
  if (verdict.kind === 'bad')
    return { of: 'check-invoice', given: null, why: { code: 'invoice_refused', text: verdict.problem } };
  const { amountMsat, paymentHash, payee, expiresAt, lifeMs } = verdict;
  const given = { invoice, amountMsat, paymentHash, payee, expiresAt, expiresAtMs: Date.now() + lifeMs };
  return { of: 'check-invoice', given, why: null };
}

/** One attempt: if its result is lost, the service may have the invoice. */
async function handOver(context: Context, step: Step, known: Known): Promise<Result> {
  const { invoice = '', paymentHash = '', amountMsat = '', expiresAt = '' } = known.refundInvoice?.given ?? {};
  const { claim } = termsOf(known, step.request);
  const service = acts(context, HAND_OVER, 'Hand the refund invoice to the service', SETTLE_PATIENCE_MS);
  const { says, why } = await service.handOverRefundInvoice({ claim, invoice, paymentHash, amountMsat, expiresAt });
  return { of: 'hand-over', says, why };
}
