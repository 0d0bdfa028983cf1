import { PAYMENT_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type PaymentPlan } from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import { CRYPTO_SEND_FIRST_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const SEND: PaymentPlan = {
  step: 'send',
  noun: 'the crypto send',
  words: PAYMENT_WORDS,
  hasLookup: true,
  firstLookMs: CRYPTO_SEND_FIRST_LOOK_MS,
};

/** A crypto send: send a token to an address → confirmed on chain. Its end is told by `getCryptoSend`. */
export async function cryptoSend(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('crypto-send', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) await submitPayment(flow, payment, SEND);
    else hearPaymentEvents(flow, payment, SEND);
    return trackPayment(flow, payment, SEND);
  });
}
