import { PAYMENT_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type TrackPlan } from './payment/payment.js';
import { trackPayment } from './payment/track.js';
import { runFlow } from './steps/run-flow.js';

const DEPOSIT: TrackPlan = {
  noun: 'the mobile money deposit',
  words: PAYMENT_WORDS,
  hasLookup: true,
  // It was started some time ago, and may have ended.
  firstLookMs: 0,
};

/**
 * Watches a mobile money deposit that was started elsewhere → paid. No money is moved here, so it can be cancelled at any
 * time. Its end is told by `getMobileMoneyDeposit`; `transaction.deposit.status.updated` makes it look at once.
 */
export async function mobileMoneyWatch(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('mobile-money-watch', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) flow.enter('tracking', 'watching the mobile money deposit');
    hearPaymentEvents(flow, payment, DEPOSIT);
    return trackPayment(flow, payment, DEPOSIT);
  });
}
