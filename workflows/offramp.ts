import { OFFRAMP_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type PaymentPlan } from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import { hearInvoiceNeeded, refundInvoice, takeRefundInvoices } from './ramp/refund-invoice.js';
import { OFFRAMP_FIRST_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const OFFRAMP: PaymentPlan = {
  step: 'create',
  noun: 'the offramp',
  words: OFFRAMP_WORDS,
  hasLookup: true,
  firstLookMs: OFFRAMP_FIRST_LOOK_MS,
  stages: [
    ['crypto-leg', ['PENDING']],
    ['fiat-leg', ['CRYPTO_RECEIVED', 'PROCESSING', 'SUCCESS', 'SUCCESSFUL', 'COMPLETED']],
    ['refund', ['FAILED', 'REFUND_PENDING', 'REFUND_INVOICE_NEEDED', 'REFUNDED', 'REFUND_FAILED']],
  ],
  hear: hearInvoiceNeeded,
  aside: refundInvoice,
};

/**
 * An offramp: crypto comes in, fiat goes out to a phone or a bank account. Its end is told by `getOfframp`. FAILED is
 * not the end: the service refunds by itself some minutes later, and over Lightning it asks for an invoice to pay.
 */
export async function offramp(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('offramp', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    takeRefundInvoices(flow, payment);
    if (carried === undefined) await submitPayment(flow, payment, OFFRAMP);
    else hearPaymentEvents(flow, payment, OFFRAMP);
    return trackPayment(flow, payment, OFFRAMP);
  });
}
