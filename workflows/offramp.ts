import type { OfframpInput } from '../src/flows/offramp.js';
import type { Cause } from '../src/protocol/causes.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import { OFFRAMP_WORDS, REFUND_INVOICE_NEEDED } from '../src/protocol/statuses.js';
import { OFFRAMP_FIRST_LOOK_MS } from './engine/policies.js';
import type { GivenInvoice } from './engine/refund-invoice.js';
import { refuse } from './engine/orders.js';
import type { OrderRule, Plan, Rule, View } from './engine/plan.js';
import { factsOfRefund, inputOf, refundAmounts } from './engine/refund-amounts.js';
import { askOn, lookAtStatus, step } from './engine/situation.js';

/*
 * A refund over Lightning needs an invoice of its recipient. The service asks for one by an event, and its interface
 * has no operation that takes one. So the flow asks for an invoice, checks it, and shows it to a person who hands it to
 * the service and confirms that; then it waits for the refund as for any other. The live service has such an operation:
 * the flow hands the invoice over itself, once, and a person is asked if the service does not say that it has it.
 */

const RULES: readonly Rule[] = [
  {
    name: 'refund-announced',
    says: 'The lookup says that nothing came in, and a trusted event announces a refund: a person decides.',
    when: (v) =>
      v.state.kind === 'ended' && v.state.meaning === 'failed' && v.ours.some(({ of }) => announces(of.event)),
    follows: () => ({ steps: [], park: 'conflict' }),
  },
  {
    name: 'refund-invoice-hand-over',
    says: 'A checked refund invoice is there, and the live service takes one: the flow hands it over, once.',
    when: (v) => isHandingOver(v) || mayHandOver(v),
    follows: (v) => ({
      steps: [step('hand-over', v.requestPlan.name), ...(isNews(v) ? [lookAtStatus(v)] : askOn(v))],
      wakeAtMs: v.known.deadlineAtMs,
    }),
  },
  {
    name: 'refund-invoice-ready',
    says: 'A checked refund invoice is there: a person hands it to the service before it expires.',
    when: (v) => isOwed(v) && !isNews(v) && readyInvoice(v) !== null && v.known.refundInvoice?.isHandedOver === false,
    follows: (v) => {
      const { paymentHash = '', expiresAtMs = v.nowMs } = readyInvoice(v) ?? {};
      return { steps: askOn(v), park: 'refund_invoice_ready', about: paymentHash, wakeAtMs: expiresAtMs };
    },
  },
  {
    name: 'refund-invoice-needed',
    says: 'The service asks for an invoice to refund to: a person provides one.',
    when: (v) => isOwed(v) && !isNews(v) && (isAsked(v) || wasGiven(v)) && isMissing(v),
    follows: (v) => ({ steps: askOn(v), park: 'refund_invoice_needed' }),
  },
];

const ORDER_RULES: readonly OrderRule[] = [
  {
    name: 'refund-invoice-not-owed',
    says: 'An invoice is refused if no refund over Lightning is owed, or if one can still be paid that was handed over.',
    when: ({ v, order }) => order.action === 'refund-invoice' && order.result === null && whyNoInvoice(v) !== null,
    follows: (o) => refuse(o, whyNoInvoice(o.v) ?? NOT_OWED),
  },
  {
    name: 'refund-invoice-check',
    says: 'Its amount, its network and its life are checked, and that it is not used for another debt.',
    when: ({ order }) => order.action === 'refund-invoice' && order.result === null,
    follows: ({ v, order }) => ({
      steps: [step('check-invoice', v.requestPlan.name, undefined, { order: order.id })],
    }),
  },
];

/**
 * An offramp: crypto comes in, fiat goes out to a phone or a bank account. `getOfframp` reports its end. FAILED is not
 * the end: the service refunds by itself some minutes later, and over Lightning it asks for an invoice to pay.
 */
export const offrampPlan: Plan = {
  kind: 'offramp',
  noun: 'the offramp',
  words: OFFRAMP_WORDS,
  firstLookMs: OFFRAMP_FIRST_LOOK_MS,
  graceMs: 0,
  requests: [{ name: 'create', operation: 'createOfframp', lookUp: 'own' }],
  stages: [
    ['crypto-leg', ['PENDING']],
    ['fiat-leg', ['CRYPTO_RECEIVED', 'PROCESSING', 'SUCCESS', 'SUCCESSFUL', 'COMPLETED']],
    ['refund', ['FAILED', 'REFUND_PENDING', REFUND_INVOICE_NEEDED, 'REFUNDED', 'REFUND_FAILED']],
  ],
  rules: RULES,
  orderRules: ORDER_RULES,
  whyNoInvoice,
  evidenceOf(v, reason) {
    if (reason === 'refund_invoice_needed') return evidenceOfNeeded(v);
    return reason === 'refund_invoice_ready' ? evidenceOfReady(v) : undefined;
  },
};

/** By the lookup, which decides; and no trusted event says that it was made, or that the payment succeeded. */
const isOwed = (v: View): boolean =>
  v.is.refundPending &&
  v.state.kind === 'open' &&
  v.executed === 'shown' &&
  !v.request.isOther &&
  !v.endings.includes('refunded') &&
  !v.endings.includes('completed');

/** An event reports more than the lookup has shown: it is asked first. */
const isNews = (v: View): boolean => v.is.hinted && !v.is.looked;

/** FAILED alone does not: it may be said of one to which nothing came in. */
const announces = ({ status }: FlowEvent): boolean => status === REFUND_INVOICE_NEEDED || status === 'REFUND_PENDING';

const isAsked = ({ ours }: View): boolean => ours.some(({ of }) => of.event.status === REFUND_INVOICE_NEEDED);

/** One that expired before it was handed over: another one is asked for. */
const wasGiven = ({ known: { refundInvoice } }: View): boolean => refundInvoice?.given != null;

/** The one that can still be paid. */
function readyInvoice({ known: { refundInvoice }, nowMs }: View): GivenInvoice | null {
  const given = refundInvoice?.given ?? null;
  return given !== null && nowMs < given.expiresAtMs ? given : null;
}

/** It is awaited: the service may have it by then. */
const isHandingOver = ({ known: { running } }: View): boolean => running.some((one) => one.do === 'hand-over');

/** Once for each invoice: whether a repetition is safe the service does not say. */
function mayHandOver(v: View): boolean {
  const { refundInvoice, prepared } = v.known;
  const { live = [] } = prepared?.pin ?? {};
  const takesOne = live.includes('submitRefundInvoice');
  const isTried = refundInvoice?.isHandedOver !== false || refundInvoice.handOver !== undefined;
  return takesOne && !isTried && isOwed(v) && !isNews(v) && readyInvoice(v) !== null;
}

/** The service has the one that was given last, or may have it. */
const mayBeHandedOver = (v: View): boolean =>
  isHandingOver(v) ||
  v.known.refundInvoice?.isHandedOver === true ||
  v.known.refundInvoice?.handOver?.says === 'unknown';

function isMissing(v: View): boolean {
  const { refundInvoice } = v.known;
  if (refundInvoice === null) return true;
  return !refundInvoice.isHandedOver && !refundInvoice.isAwaited && readyInvoice(v) === null;
}

/** One invoice at a time: two that can be paid are two refunds. */
function whyNoInvoice(v: View): Cause | null {
  const { chain } = (v.known.prepared?.input ?? {}) as Partial<OfframpInput>;
  if (!isOwed(v) || !(isAsked(v) || chain === 'LIGHTNING')) return NOT_OWED;
  const ready = readyInvoice(v);
  if (ready === null || !mayBeHandedOver(v)) return null;
  const text = `an invoice was or may have been handed over, and can still be paid: wait until ${ready.expiresAt}`;
  return { code: 'invoice_can_still_be_paid', text };
}

const NOT_OWED: Cause = { code: 'no_refund_owed', text: 'no refund over Lightning is owed now' };

function evidenceOfNeeded(v: View) {
  const { chain, token } = inputOf(v.known);
  return {
    ...refundAmounts(v),
    reported: factsOfRefund(v),
    chain,
    token,
    next: 'provide a Lightning invoice over this amount by the update provideRefundInvoice',
  };
}

function evidenceOfReady(v: View) {
  const { given, handOver } = v.known.refundInvoice ?? {};
  const { expiresAtMs: _expiresAtMs, ...shown } = given ?? {};
  return {
    ...shown,
    ...(handOver === undefined ? {} : { handOver }),
    ...refundAmounts(v),
    next: 'hand this invoice to the service, and then confirm that it was handed over',
  };
}
