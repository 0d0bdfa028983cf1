import { CHECKOUT_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { sendWithCard } from './card/send-with-card.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type PaymentPlan } from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const DEPOSIT: PaymentPlan = {
  step: 'deposit',
  noun: 'the card deposit',
  words: CHECKOUT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
  send: sendWithCard,
  sendAgain: false,
};

/**
 * A card deposit: send it with the card that one gateway keeps for a minute → the customer passes 3-D Secure at the
 * answer's `redirect_url` → paid. Nothing can be looked up: trusted events tell its end, or it parks at its deadline.
 */
export async function cardDeposit(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('card-deposit', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) await submitPayment(flow, payment, DEPOSIT);
    else hearPaymentEvents(flow, payment, DEPOSIT);
    return trackPayment(flow, payment, DEPOSIT);
  });
}
