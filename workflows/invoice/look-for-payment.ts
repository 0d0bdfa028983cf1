import { condition } from '@temporalio/workflow';
import type { ClaimRef, PaidReading } from '../../activities/types.js';
import type { Cause } from '../../src/protocol/causes.js';
import { paidElsewhere } from '../../src/protocol/decisions.js';
import { PAID_BY_ANOTHER_WAY } from '../../src/protocol/messages.js';
import {
  ATTEMPT_WORDS,
  CHECKOUT_WORDS,
  classifyStatus,
  provesPayment,
  type Meaning,
} from '../../src/protocol/statuses.js';
import { keepShown, rulesOf, takeReading, type Payment, type PaymentPlan } from '../engine/payment.js';
import { act } from '../engine/activities.js';
import { decideMismatch } from '../engine/evidence.js';
import { endFromDecision, endFlow, FlowEnd } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { readInbox } from '../engine/inbox.js';
import type { Resolution } from '../engine/messages.js';
import { park } from '../engine/park.js';
import {
  INVOICE_PAYMENT_FIRST_LOOK_MS,
  LOOK_WHILE_PARKED_MS,
  POLL,
  RECORD_PATIENCE_MS,
  SETTLE_PATIENCE_MS,
  STORE_BESIDE,
} from '../engine/policies.js';
import { voidUnsent } from '../engine/stop.js';
import { AT_LEAST_MS, observed, within } from '../engine/waits.js';

/** Both POSTs of an invoice have the same reference, and different operations: each has its own claim. */
export const GENERATE: PaymentPlan = {
  step: 'generate',
  noun: 'the invoice',
  words: ATTEMPT_WORDS,
  hasLookup: true,
  firstLookMs: 0,
  // An event may be about a payment of it.
  byOthersToo: true,
};

export const PAY: PaymentPlan = {
  step: 'pay',
  noun: 'the payment',
  words: CHECKOUT_WORDS,
  hasLookup: true,
  firstLookMs: INVOICE_PAYMENT_FIRST_LOOK_MS,
  // PENDING of an invoice that existed before says nothing about a payment.
  proves: provesPayment,
};

/** What may be another payer's is followed like ours, except for its failures: the invoice can be paid again. */
export const planOf = ({ maybeAnother }: Payment): PaymentPlan =>
  maybeAnother ? { ...PAY, words: ATTEMPT_WORDS } : PAY;

/**
 * Whether the invoice was paid in another way, for example on its own page: then paying it again would charge twice,
 * and that payment is followed like ours. If it is not known, the flow asks again until the deadline; then a person is
 * asked, and the flow keeps asking. Only "not paid" allows paying, or saying that nothing moved.
 * @param beforeOurs we are about to pay
 */
export async function lookForPayment(flow: Flow, payment: Payment, beforeOurs = false): Promise<boolean> {
  for (;;) {
    const answered = payment.shownPaid ?? (await untilAnswered(flow, payment, beforeOurs));
    keepShown(payment, answered);
    // Events that came meanwhile, or are in the inbox, may contradict it. Past the deadline the end itself asks a person
    // if the inbox cannot be read.
    const isRead = answered.says !== 'not-paid' || (await readInbox(flow, RECORD_PATIENCE_MS));
    if (!isRead && !flow.deadlinePassed) continue;
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    const isAsked = payment.mismatches.length > 0;
    // The lookup for an order to stop may have shown more meanwhile.
    const found = payment.shownPaid ?? answered;
    if (await reportsAnother(flow, payment)) return takePayment(flow, payment, found);
    // The decision of a person may have taken days.
    if (isAsked) continue;
    const says = paidElsewhere({ lookup: found.says, paidByEvent: paidByEvent(payment) });
    if (says === 'not-paid') return false;
    if (says !== 'cannot-tell') return takePayment(flow, payment, found);
  }
}

/**
 * One more look, right before the flow says that nothing was paid: only "not paid" confirms it. A service that shows
 * nothing has done so for the whole window already.
 */
export async function isStillUnpaid(flow: Flow, payment: Payment): Promise<boolean> {
  if (payment.shownPaid !== undefined) return false;
  const found = await within(flow, SETTLE_PATIENCE_MS, () => ask(flow, payment, 0, { isWindowOver: true }).promise);
  keepShown(payment, found);
  return found?.says === 'not-paid' && !paidByEvent(payment) && payment.mismatches.length === 0;
}

/** A trusted event says that it was paid, or that a payment was begun. */
export function paidByEvent({ words }: Payment): boolean {
  return words.some((word) => provesPayment(word) && classifyStatus(CHECKOUT_WORDS, word) !== 'failed');
}

/**
 * Why a flow whose invoice exists is not stopped: the customer may have paid it on its own page. Null: it is not paid.
 */
export async function whyNotStopped(flow: Flow, payment: Payment): Promise<Cause | null> {
  const answered = await within(flow, wholeWindowMs(payment), () => ask(flow, payment, 0, IF_MISSING).promise);
  keepShown(payment, answered);
  await readInbox(flow);
  if (payment.mismatches.length > 0) return OTHER_REPORTED;
  const lookup = (payment.shownPaid ?? answered)?.says ?? 'cannot-tell';
  const says = paidElsewhere({ lookup, paidByEvent: paidByEvent(payment) });
  if (says === 'not-paid') return null;
  const why = says === 'cannot-tell' ? MAYBE_PAID : PAID_ALREADY;
  const { money } = flow;
  // If our payment waits to be sent, it is cancelled if another one was made, or past the deadline if that is unknown.
  if (money.at === 'claimed' && (says !== 'cannot-tell' || flow.deadlinePassed)) {
    const isVoid = await voidUnsent(flow, money.claim, why.text);
    if (isVoid === undefined && payment.shownPaid !== undefined) voidOnceStoreIsBack(flow, money.claim, why.text);
  }
  // The flow follows the payment.
  payment.lookNow = true;
  return why;
}

const OTHER_REPORTED: Cause = {
  code: 'event_reports_other_payment',
  text: 'a trusted event reports another payment of the invoice',
};
const PAID_BY_EVENT: Cause = { code: 'event_reports_it', text: 'a trusted event says that the invoice was paid' };
const MAYBE_PAID: Cause = { code: 'payment_unclear', text: 'it is not known whether the invoice was paid' };
const PAID_ALREADY: Cause = { code: PAID_BY_ANOTHER_WAY, text: 'the invoice was paid already' };

/** Beside the flow, and retried by the server: a later attempt to pay may meet an older copy of the record. */
function voidOnceStoreIsBack(flow: Flow, claim: ClaimRef, reason: string): void {
  // Bounded by its policy; nothing waits for it.
  const beside = act(STORE_BESIDE, 'Void the claim once the store is back', flow.timeScale);
  const voiding = beside.voidClaim({ ...claim, reason });
  voiding.catch(() => undefined);
}

async function untilAnswered(flow: Flow, payment: Payment, beforeOurs: boolean): Promise<PaidReading> {
  const asking = flow.deadlinePassed
    ? ask(flow, payment, 0, { ...IF_MISSING, beforeOurs })
    : ask(flow, payment, LOOK_WHILE_PARKED_MS, { beforeOurs });
  const wasOver = flow.deadlinePassed;
  const isShown = () => payment.shownPaid !== undefined;
  const isOver = () => flow.stop !== null || isShown() || (flow.deadlinePassed && !wasOver);
  const patienceMs = wasOver ? wholeWindowMs(payment) : LOOK_WHILE_PARKED_MS;
  await condition(() => asking.settled() || isOver(), Math.max(AT_LEAST_MS, flow.scaled(patienceMs)));
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  if (!asking.settled()) asking.cancel();
  if (payment.shownPaid !== undefined) return payment.shownPaid;
  const found: PaidReading = asking.settled() ? await asking.promise : { says: 'cannot-tell' };
  return found.says === 'cannot-tell' && flow.deadlinePassed ? askPerson(flow, payment, beforeOurs, found) : found;
}

async function askPerson(
  flow: Flow,
  payment: Payment,
  beforeOurs: boolean,
  { why }: PaidReading,
): Promise<PaidReading> {
  const asking = ask(flow, payment, LOOK_WHILE_PARKED_MS, { isParked: true, beforeOurs });
  const evidence = {
    reference: flow.reference,
    why: why ?? 'the service does not say whether the invoice was paid',
    reported: payment.words,
  };
  const isContradicted = () => payment.mismatches.length > 0;
  const decided = () => asking.settled() || payment.shownPaid !== undefined || isContradicted();
  const lookAgain = async () =>
    keepShown(payment, await within(flow, SETTLE_PATIENCE_MS, () => ask(flow, payment, 0, { beforeOurs }).promise));
  const refusalOf = ({ action }: Resolution) =>
    action === 'close-not-executed' && paidByEvent(payment) ? PAID_BY_EVENT : null;
  const decision = await park(flow, 'payment_unclear', evidence, decided, { lookAgain, refusalOf });
  if (decision === 'decided' && asking.settled()) return payment.shownPaid ?? asking.promise;
  asking.cancel();
  // A refused order, or what contradicts it, leads to another lookup.
  if (decision === 'decided') return payment.shownPaid ?? { says: 'cannot-tell' };
  if (decision.action === 'keep-waiting') {
    flow.extendDeadline(decision.until);
    return { says: 'cannot-tell' };
  }
  if (decision.action !== 'close-not-executed') return endFromDecision(decision);
  return endFlow('failed', 'not_executed', `Closed without a payment by ${decision.actor}: ${decision.note}`);
}

/** "Not found" is no answer before the end of its window; every other answer is one at once. */
const IF_MISSING = { untilWindowOver: true } as const;
const wholeWindowMs = ({ windows }: Payment): number => windows.settleMs + SETTLE_PATIENCE_MS;

function ask(
  flow: Flow,
  payment: Payment,
  patienceMs: number,
  {
    isParked = false,
    beforeOurs = false,
    isWindowOver = false,
    untilWindowOver = false,
  }: Partial<Record<'isParked' | 'beforeOurs' | 'isWindowOver' | 'untilWindowOver', boolean>>,
) {
  const summary = isParked ? 'Ask on, while a person decides' : 'Look whether it is paid already';
  return observed(() =>
    act(POLL, summary, flow.timeScale).whetherPaid({
      reference: flow.reference,
      expect: payment.facts,
      paidByEvent: paidByEvent(payment),
      beforeOurs,
      patienceMs: flow.scaled(patienceMs),
      ...(untilWindowOver ? { missingPatienceMs: flow.scaled(payment.windows.settleMs) } : {}),
      windowMs: isWindowOver ? 0 : flow.scaled(payment.windows.settleMs),
      timeScale: flow.timeScale,
      isParked,
    }),
  );
}

/** If its amount or currency differs, it is not our payment: following it asks a person, with both sides shown. */
function takePayment(flow: Flow, payment: Payment, { reading }: PaidReading): true {
  followPayment(flow, payment);
  if (reading !== undefined) takeReading(flow, payment, planOf(payment), reading);
  return true;
}

/**
 * Whether a trusted event reports another payment of the invoice. One that cannot be read may say anything: a person is
 * asked about it first.
 */
export async function reportsAnother(flow: Flow, payment: Payment): Promise<boolean> {
  for (let [first] = payment.mismatches; first !== undefined; [first] = payment.mismatches) {
    if (first.differs.some((fact) => fact !== 'body')) return true;
    await decideMismatch(flow, payment, rulesOf(flow, payment, GENERATE));
  }
  return false;
}

/** A payment of the invoice in another way is tracked, and not sent by us. */
export function followPayment(flow: Flow, payment: Payment): 'paid' {
  payment.maybeAnother = true;
  forgetFailures(payment);
  flow.money = { at: 'sent' };
  flow.enter('tracking', 'paid-elsewhere', 'the invoice was paid by another way, and not by this flow', 'service');
  const answer = { kind: 'none', reason: 'paid by another way' } as const;
  flow.answer ??= answer;
  payment.answers = { ...payment.answers, [PAY.step]: answer };
  return 'paid';
}

/** Failures that came before we knew that the payment may be another payer's do not end the flow. */
export function forgetFailures(payment: Payment): void {
  const attempted = (meaning: Meaning): Meaning => (meaning === 'failed' ? 'pending' : meaning);
  payment.provenMeanings = payment.provenMeanings.map(attempted);
  payment.eventMeanings = payment.eventMeanings.map(attempted);
}
