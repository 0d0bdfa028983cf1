import { condition } from '@temporalio/workflow';
import type { Facts } from '../activities/types.js';
import type { CauseCode } from '../src/protocol/causes.js';
import type { OtherRecord } from '../src/flows/echoes.js';
import type { FlowReport, Outcome } from '../src/protocol/messages.js';
import { CHECKOUT_WORDS, classifyStatus, provesPayment } from '../src/protocol/statuses.js';
import { handlePaymentEvents, preparePayment, type PaymentCarried, type Payment } from './engine/payment.js';
import { lookOnce } from './engine/look.js';
import { followedOn, trackPayment } from './engine/track.js';
import { openPayUpdates, type PayUpdates } from './invoice/pay-updates.js';
import { runFlow, canContinueAsNew, continueFlowAsNew, tooLong } from './engine/run-flow.js';
import { submitPayment } from './engine/submit-payment.js';
import { act, handedOn } from './engine/activities.js';
import { pick } from './engine/event-book.js';
import { differences } from './engine/evidence.js';
import { endFlow, endFromDecision, FlowEnd } from './engine/flow-end.js';
import type { Flow } from './engine/flow.js';
import { askAbout } from './engine/park.js';
import { READ, SETTLE_PATIENCE_MS } from './engine/policies.js';
import { observed, within } from './engine/waits.js';
import {
  followPayment,
  forgetFailures,
  GENERATE,
  isStillUnpaid,
  lookForPayment,
  paidByEvent,
  PAY,
  planOf,
  reportsAnother,
  whyNotStopped,
} from './invoice/look-for-payment.js';

/**
 * An invoice payment: generate → read → pay at once, or when ordered → confirm. An existing invoice is only paid. Until
 * its payment is sent nothing has moved: until then the flow can be cancelled, and expires at its deadline.
 */
export async function invoicePayment(input: unknown, given?: PaymentCarried): Promise<FlowReport> {
  const carried = handedOn(given);
  return runFlow('invoice-payment', input, carried?.flow, async (flow) => {
    const desk = openPayUpdates(flow);
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    desk.serve(payment);
    flow.proven = () => payment.words.filter(provesPayment).map((word) => classifyStatus(CHECKOUT_WORDS, word));
    // An invoice that the service has is not paid by that.
    flow.evidence = () => ({ ...payment, proven: paidByEvent(payment) });
    flow.claims = () => Object.values(payment.steps).map(({ claim }) => claim);
    const isNew = carried === undefined && 'generate' in payment.steps;
    const step: InvoiceStep = { isChecked: !isNew };
    flow.overtaken = async (ended) => {
      if (ended.state !== 'expired' || flow.money.at !== 'unsent')
        return followedOn(flow, payment, planOf(payment), ended);
      return (await isStillUnpaid(flow, payment)) ? null : payOrFollow(flow, payment, desk, step);
    };
    flow.answer ??= payment.answers['generate'] ?? payment.answers['pay'] ?? null;
    // Before its POST there is no invoice that could be paid; after it that has moved nothing yet.
    if (isNew) {
      await submitPayment(flow, payment, GENERATE);
      flow.money = { at: 'unsent', done: ['createInvoice'] };
    }
    flow.beforeStop = () => whyNotStopped(flow, payment);
    return payOrFollow(flow, payment, desk, step);
  });
}

/** Whether the invoice that the service has is known to be the one that was asked for: no other is paid. */
interface InvoiceStep {
  isChecked: boolean;
}

/** Pays the invoice when that is ordered; or follows a payment of it that was made in another way. */
async function payOrFollow(flow: Flow, payment: Payment, desk: PayUpdates, step: InvoiceStep): Promise<Outcome> {
  flow.isEnding = false;
  if (!step.isChecked) await checkInvoice(flow, payment);
  step.isChecked = true;
  if (flow.money.at === 'unsent') {
    handlePaymentEvents(flow, payment, GENERATE);
    if ((await awaitPayCommand(flow, payment, desk)) === 'ordered') await payInvoice(flow, payment);
  }
  handlePaymentEvents(flow, payment, planOf(payment));
  const ended = await trackPayment(flow, payment, planOf(payment));
  return payment.notCompared === true ? onceCompared(flow, payment) : ended;
}

/** Reads the generated invoice: a service that knew the reference may return an invoice of another amount. */
async function checkInvoice(flow: Flow, payment: Payment): Promise<void> {
  flow.note('reading-invoice', 'reads the invoice: it is paid only if it is the one that was asked for');
  const theirs = await readInvoice(flow, payment);
  if (theirs === 'paid') {
    const shown = await within(flow, SETTLE_PATIENCE_MS, readingOf(flow, payment));
    payment.notCompared = shown === undefined;
    const other = shown && otherInvoice(payment, shown);
    if (other !== undefined) payment.otherRecord = other;
    return;
  }
  const other = otherInvoice(payment, theirs);
  if (other === undefined) return flow.enter('generated', 'invoice-payable', 'the invoice can be paid', 'service');
  const options = { without: ['mark-refunded'] } as const;
  const isPaid = () => paidByEvent(payment);
  const decision = await askAbout(flow, 'duplicate_mismatch', () => ({ ...other }), isPaid, options);
  if (decision === 'decided') followPayment(flow, payment);
  else if (!(await lookForPayment(flow, payment)))
    endFlow('failed', 'not_executed', `Closed without a payment by ${decision.actor}: ${decision.note}`);
  // What was paid is the other invoice.
  payment.otherRecord = other;
}

/** A payment is ours only if its invoice is. A person is asked while that cannot be read. */
async function onceCompared(flow: Flow, payment: Payment): Promise<Outcome> {
  const reading = observed(readingOf(flow, payment));
  await condition(reading.settled, flow.scaled(SETTLE_PATIENCE_MS));
  if (!reading.settled()) await askUncompared(flow, payment, reading.settled);
  payment.notCompared = false;
  const other = otherInvoice(payment, await reading.promise);
  if (other !== undefined) payment.otherRecord = other;
  // What came meanwhile is judged, too.
  if (payment.lookNow) await lookOnce(flow, payment, planOf(payment), 'Look once more');
  payment.lookNow = false;
  return trackPayment(flow, payment, planOf(payment));
}

/** What is proven of the payment is shown, and proves nothing about ours. */
async function askUncompared(flow: Flow, payment: Payment, decided: () => boolean): Promise<void> {
  const { proven } = flow;
  let shown = 0;
  flow.proven = () => proven().slice(shown);
  const evidence = () => {
    shown = proven().length;
    const why =
      'it was paid, and the service does not show the invoice: it cannot be compared with the one that was asked for';
    return {
      why,
      code: 'not_compared' satisfies CauseCode,
      ours: payment.steps[GENERATE.step]?.facts ?? {},
      words: payment.words,
    };
  };
  const decision = await askAbout(flow, 'conflict', evidence, decided);
  if (decision !== 'decided') endFromDecision(decision);
  flow.proven = proven;
}

function otherInvoice({ facts }: Payment, theirs: Facts): OtherRecord | undefined {
  const differs = differences(facts, theirs);
  return differs.length === 0 ? undefined : { differs, ours: pick(facts, differs), theirs: pick(theirs, differs) };
}

// Bounded by the deadline, by within or unlessPaid around it.
const readingOf =
  (flow: Flow, { input }: Payment) =>
  () =>
    act(READ, 'Read the invoice', flow.timeScale).lookAtStep({ flowId: flow.flowId, step: GENERATE.step, input });

/** The invoice's facts. `paid`: it was paid before it could be read. If it is unpaid at the deadline, the flow expires. */
async function readInvoice(flow: Flow, payment: Payment): Promise<Facts | 'paid'> {
  const read = readingOf(flow, payment);
  for (;;) {
    const shown = flow.deadlinePassed
      ? await within(flow, SETTLE_PATIENCE_MS, read)
      : await unlessPaid(flow, payment, read);
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    if (shown !== undefined) return shown;
    if (await reportsAnother(flow, payment)) return followPayment(flow, payment);
    payment.lookNow = false;
    if (await lookForPayment(flow, payment)) return 'paid';
    // A person may wait longer: then it is read again.
    if (flow.deadlinePassed) expire('The deadline passed before the invoice could be read and compared');
  }
}

/** The step's result, or undefined if a stop order, the deadline, or an event that reports a payment came first. */
async function unlessPaid<T>(flow: Flow, payment: Payment, step: () => Promise<T>): Promise<T | undefined> {
  const running = observed(step);
  const isReported = () => payment.lookNow || payment.mismatches.length > 0;
  await condition(() => running.settled() || isReported() || flow.stop !== null || flow.deadlinePassed);
  if (running.settled()) return running.promise;
  running.cancel();
  return undefined;
}

/** Pays the invoice, once; not if the service already shows a payment. */
async function payInvoice(flow: Flow, payment: Payment): Promise<void> {
  payment.facts = payment.steps[PAY.step]?.facts ?? {};
  handlePaymentEvents(flow, payment, PAY);
  if (await lookForPayment(flow, payment, true)) return;
  // It may have taken days to know that: past the deadline a person alone gives it more time.
  if (flow.deadlinePassed) expire();
  // What was received before the payment is sent proves nothing about it.
  Object.assign(payment, NOTHING_RECEIVED);
  // The customer may have been faster, which is why it is refused then.
  await submitPayment(flow, payment, { ...PAY, paidAllTheSame: lookForPayment });
  if (payment.maybeAnother) forgetFailures(payment);
}

const NOTHING_RECEIVED: Partial<Payment> = {
  maybeAnother: false,
  proven: false,
  answer: null,
  words: [],
  provenMeanings: [],
  eventMeanings: [],
  lookNow: false,
};

/**
 * Waits for the order to pay. Until then we move nothing: a cancel ends the flow, and so does the deadline, unless the
 * customer has paid the invoice on its own page.
 */
async function awaitPayCommand(flow: Flow, payment: Payment, desk: PayUpdates): Promise<'ordered' | 'paid'> {
  const isOrdered = () => PAY.step in payment.steps;
  const canGoOn = () => tooLong(flow) && !desk.busy() && canContinueAsNew(flow);
  if (!isOrdered()) flow.enter('awaiting-payment', 'awaiting-payment', 'waits for the order to pay');
  for (;;) {
    const isUnclear = () => payment.mismatches.length > 0;
    const hasWork = () => isOrdered() || isUnclear() || payment.lookNow || canGoOn();
    await condition(() => hasWork() || flow.stop !== null || flow.deadlinePassed);
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    // A trusted event reports another payment of the invoice: the flow follows it, and parks with both sides shown.
    if (isUnclear()) {
      if (await reportsAnother(flow, payment)) return followPayment(flow, payment);
      continue;
    }
    if (isOrdered()) return 'ordered';
    if (payment.lookNow) {
      payment.lookNow = false;
      if (await lookForPayment(flow, payment)) return 'paid';
    } else if (canGoOn()) {
      await continueFlowAsNew(flow, payment.input, (): PaymentCarried => ({ flow: flow.carry(), payment }));
    } else if (flow.deadlinePassed) {
      if (await lookForPayment(flow, payment)) return 'paid';
      // A person may have been faster than the lookup, or wait longer.
      if (flow.deadlinePassed && flow.stop === null && !isOrdered()) expire();
    }
  }
}

function expire(why = 'The deadline passed before the invoice was paid'): never {
  return endFlow('expired', 'deadline_passed', `${why}; nothing was moved.`);
}
