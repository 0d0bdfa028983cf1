import { PAYMENT_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type PaymentPlan } from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const WITHDRAWAL: PaymentPlan = {
  step: 'withdraw',
  noun: 'the bank withdrawal',
  words: PAYMENT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
};

/**
 * A bank withdrawal: out of the integrator's wallet → paid out to a South African bank account. The interface has no
 * lookup for it: the callback and the account webhook tell its end, else a person at the deadline.
 */
export async function bankWithdrawal(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('bank-withdrawal', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) await submitPayment(flow, payment, WITHDRAWAL);
    else hearPaymentEvents(flow, payment, WITHDRAWAL);
    return trackPayment(flow, payment, WITHDRAWAL);
  });
}
