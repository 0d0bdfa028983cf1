import { sleep } from '@temporalio/workflow';
import type { OfframpInput } from '../src/flows/offramp.js';
import { REFUND_INVOICE_NEEDED } from '../src/protocol/statuses.js';
import { UNREADABLE, type FlowEvent } from '../src/protocol/messages.js';
import { compareAmounts, toMsat } from '../src/money.js';
import { parkAndLook } from './engine/look.js';
import {
  paymentState,
  type Payment,
  type WaitStep,
  type TrackPlan,
  type RefundInvoice,
  type GivenInvoice,
} from './engine/payment.js';
import { UPDATES } from '../src/protocol/vocabulary.js';
import type { Facts } from '../activities/types.js';
import { act } from './engine/activities.js';
import { admit } from './engine/admit.js';
import { endFromDecision } from './engine/flow-end.js';
import type { Flow } from './engine/flow.js';
import { provideRefundInvoiceUpdate } from './engine/messages.js';
import { READ, STORE_PATIENCE_MS } from './engine/policies.js';
import { checkOrder, onUpdate, orderRefused } from './engine/park.js';
import { observed, within } from './engine/waits.js';

/*
 * A refund over Lightning needs an invoice of its recipient. The service asks for one by an event, and its interface
 * has no operation that takes one. So the flow asks for an invoice, checks it, and shows it to a person who hands it to
 * the service and confirms that; then it waits for the refund as for any other.
 */

const NONE: RefundInvoice = { asked: false, facts: {}, given: null, handedOver: false };
const MOST_CHARACTERS = 4_000;

/** Records that the service asked, and what it reported about the amount. */
export function handleInvoiceNeeded(payment: Payment, event: FlowEvent): void {
  if (event.status !== REFUND_INVOICE_NEEDED || payment.words.includes(REFUND_INVOICE_NEEDED)) return;
  payment.refund = { ...(payment.refund ?? NONE), asked: true, facts: event.facts };
}

/** Takes an invoice at any time while a refund over Lightning is owed: the event that asks for it may be lost. */
export function takeRefundInvoices(flow: Flow, payment: Payment): void {
  onUpdate(
    flow,
    provideRefundInvoiceUpdate,
    async (order): Promise<{ accepted: true; expiresAt: string }> => {
      const asked = { update: UPDATES.provideRefundInvoice, action: 'refund-invoice' };
      const { actor, invoice } = await admit(flow, asked, order);
      const amounts = amountsOf(payment);
      const question = { flowId: flow.flowId, invoice, ...amounts };
      const verdict = await within(
        flow,
        STORE_PATIENCE_MS,
        () => act(READ, 'Check the refund invoice', flow.timeScale).checkRefundInvoice(question),
        () => flow.view().outcome !== null,
      );
      if (verdict === undefined) {
        throw orderRefused('invoice_refused', 'It cannot be checked now: give it again later.');
      }
      if (verdict.kind === 'bad') throw orderRefused('invoice_refused', verdict.problem);
      checkTime(flow, payment);
      const { amountMsat, paymentHash, payee, expiresAt, lifeMs } = verdict;
      const unsure =
        amounts.dueMsat === null ? ` (how much is due is not known; ${amounts.mostMsat} msat came in)` : '';
      const given = { invoice, amountMsat, paymentHash, payee, expiresAt, expiresAtMs: Date.now() + lifeMs };
      payment.refund = { ...(payment.refund ?? NONE), given, handedOver: false };
      flow.note(
        'refund-invoice-given',
        `a refund invoice over ${amountMsat} msat was given and checked${unsure}; good until ${expiresAt}`,
        actor,
      );
      return { accepted: true, expiresAt };
    },
    (order) => {
      checkOrder(order);
      if (typeof order.invoice !== 'string' || order.invoice.length > MOST_CHARACTERS) {
        throw orderRefused('no_invoice', 'The order has no invoice.');
      }
      checkTime(flow, payment);
    },
  );
}

/** One invoice at a time: two that can be paid are two refunds. */
function checkTime(flow: Flow, payment: Payment): void {
  if (!takesInvoice(flow, payment)) throw orderRefused('no_refund_owed', 'No refund over Lightning is owed now.');
  const { given, handedOver } = payment.refund ?? NONE;
  if (given !== null && handedOver && Date.now() < given.expiresAtMs) {
    throw orderRefused(
      'invoice_can_still_be_paid',
      `An invoice was handed over, and can still be paid: wait until ${given.expiresAt}.`,
    );
  }
  if (flow.resolution !== null)
    throw orderRefused('other_order_under_way', 'An order is being carried out. Repeat this later.');
}

function takesInvoice(flow: Flow, payment: Payment): boolean {
  const overLightning = payment.refund?.asked === true || (payment.input as OfframpInput).chain === 'LIGHTNING';
  return overLightning && flow.view().outcome === null && isOwed(payment);
}

/** The lookup decides, as for everything; an event that asks for an invoice triggers a lookup at once. */
function isOwed(payment: Payment): boolean {
  return payment.provenMeanings.includes('refund-pending') && paymentState(payment).kind === 'open';
}

/** Waits for the requested invoice, and then for a person who hands it over. */
export const refundInvoice: WaitStep = {
  isDue(payment) {
    const { asked, given, handedOver } = payment.refund ?? NONE;
    return isOwed(payment) && (given === null ? asked : !handedOver);
  },
  decide: (flow, payment, plan) =>
    payment.refund?.given
      ? untilHandedOver(flow, payment, plan, payment.refund.given)
      : untilGiven(flow, payment, plan),
};

async function untilGiven(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  const { chain, token } = payment.input as OfframpInput;
  const evidence = {
    ...amountsOf(payment),
    reported: payment.refund?.facts ?? {},
    chain,
    token,
    next: 'provide a Lightning invoice over this amount by the update provideRefundInvoice',
  };
  const reason = 'refund_invoice_needed';
  const isGiven = () => payment.refund?.given != null;
  const decision = await parkAndLook(flow, payment, plan, { reason, evidence }, isGiven);
  if (decision === 'decided') return;
  if (decision.action !== 'keep-waiting') endFromDecision(decision);
  payment.refund = { ...(payment.refund ?? NONE), asked: false };
  flow.extendDeadline(decision.until);
}

async function untilHandedOver(flow: Flow, payment: Payment, plan: TrackPlan, given: GivenInvoice): Promise<void> {
  const { expiresAtMs, ...shown } = given;
  const evidence = {
    ...shown,
    ...amountsOf(payment),
    next: 'hand this invoice to the service, and then confirm that it was handed over',
  };
  const reason = 'refund_invoice_ready';
  // An invoice expires in real time, whatever the flow's own waits are scaled by.
  const expiry = observed(() => sleep(Math.max(1, expiresAtMs - Date.now())));
  const isOver = () => expiry.settled() || payment.refund?.given !== given;
  const decision = await parkAndLook(flow, payment, plan, { reason, evidence }, isOver);
  const expired = expiry.settled();
  expiry.cancel();
  const refund = payment.refund ?? NONE;
  if (decision !== 'decided') {
    if (decision.action !== 'confirm-handed-over') endFromDecision(decision);
    payment.refund = { ...refund, handedOver: true };
    flow.extendDeadline();
  } else if (expired && refund.given === given) {
    payment.refund = { ...refund, asked: true, given: null };
    flow.note('refund-invoice-expired', 'the refund invoice expired before it was handed over');
  }
}

type CameIn = Pick<OfframpInput, 'cryptoAmount' | 'token'>;

/** What is due, and the most that may be sent back. */
function amountsOf({ input, refund }: Payment) {
  const { cryptoAmount, token } = input as OfframpInput;
  return {
    dueMsat: refundDueMsat({ cryptoAmount, token }, refund?.facts ?? {}),
    mostMsat: toMsat(cryptoAmount, token),
  };
}

/**
 * The amount of a refund over Lightning, in thousandths of a satoshi: what the service reported, and never more than
 * came in. Null if neither can be expressed so (the token is not one of Bitcoin's), or what it reported cannot be read.
 */
export function refundDueMsat({ cryptoAmount, token }: CameIn, facts: Facts): string | null {
  const cameIn = toMsat(cryptoAmount, token);
  const { refundAmountMsat, refundCryptoAmount } = facts;
  if ([refundAmountMsat, refundCryptoAmount].includes(UNREADABLE)) return null;
  const due = refundAmountMsat ?? (refundCryptoAmount === undefined ? cameIn : toMsat(refundCryptoAmount, token));
  return due !== null && cameIn !== null && compareAmounts(due, cameIn) > 0 ? cameIn : due;
}
