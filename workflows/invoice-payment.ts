import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried } from './payment/payment.js';
import { trackPayment } from './payment/track.js';
import { generateInvoice } from './invoice/generate.js';
import { openPayDesk } from './invoice/pay-desk.js';
import { payInvoice } from './invoice/pay.js';
import { GENERATE, PAY } from './invoice/plans.js';
import { untilToldToPay } from './invoice/until-told-to-pay.js';
import { runFlow } from './steps/run-flow.js';

/**
 * An invoice payment: generate → read → pay at once, or when told to → confirm. An invoice that exists already is only
 * paid. Until its payment is sent nothing has moved: then the flow can be cancelled, and expires at its deadline.
 */
export async function invoicePayment(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('invoice-payment', input, carried?.flow, async (flow) => {
    const desk = openPayDesk(flow);
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    desk.serve(payment);
    flow.answer ??= payment.told['generate'] ?? payment.told['pay'] ?? null;
    if (carried === undefined && 'generate' in payment.steps) await generateInvoice(flow, payment);
    if (flow.money.at === 'unsent') {
      hearPaymentEvents(flow, payment, GENERATE);
      if ((await untilToldToPay(flow, payment, desk)) === 'told') await payInvoice(flow, payment);
    }
    hearPaymentEvents(flow, payment, PAY);
    return trackPayment(flow, payment, PAY);
  });
}
