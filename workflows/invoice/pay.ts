import { hearPaymentEvents, type Payment } from '../payment/payment.js';
import { submitPayment } from '../payment/submit.js';
import type { Flow } from '../steps/flow.js';
import { lookForPayment } from './look-for-payment.js';
import { PAY } from './plans.js';

/** Pays the invoice, once; not where the service shows a payment already. */
export async function payInvoice(flow: Flow, payment: Payment): Promise<void> {
  payment.facts = payment.steps[PAY.step]?.facts ?? {};
  hearPaymentEvents(flow, payment, PAY);
  if (await lookForPayment(flow, payment)) return;
  // What was heard before the payment is sent proves nothing of it.
  Object.assign(payment, NOTHING_HEARD);
  // The customer may have been quicker: that is why it is refused then.
  await submitPayment(flow, payment, { ...PAY, paidAllTheSame: lookForPayment });
}

const NOTHING_HEARD: Partial<Payment> = {
  proven: false,
  answer: null,
  words: [],
  provenMeanings: [],
  toldMeanings: [],
  lookNow: false,
};
