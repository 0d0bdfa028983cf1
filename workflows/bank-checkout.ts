import { CHECKOUT_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type PaymentPlan } from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const CHECKOUT: PaymentPlan = {
  step: 'checkout',
  noun: 'the bank checkout',
  words: CHECKOUT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
};

/**
 * A bank checkout: create it → the customer pays at the bank's page. What the service answers (where to send the
 * customer) goes to the caller by the update `answer`. The interface has no lookup for it: the callback and the account
 * webhooks tell its end, else a person at the deadline.
 */
export async function bankCheckout(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('bank-checkout', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) await submitPayment(flow, payment, CHECKOUT);
    else hearPaymentEvents(flow, payment, CHECKOUT);
    return trackPayment(flow, payment, CHECKOUT);
  });
}
