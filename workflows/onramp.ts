import type { OnrampCreation } from '../src/contract/onramp.js';
import { ONRAMP_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import type { OnrampInput } from '../src/flows/onramp.js';
import {
  hearPaymentEvents,
  preparePayment,
  type Payment,
  type PaymentCarried,
  type PaymentPlan,
} from './payment/payment.js';
import { submitPayment } from './payment/submit.js';
import { trackPayment } from './payment/track.js';
import type { Flow } from './steps/flow.js';
import { ONRAMP_FIRST_LOOK_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const ONRAMP: PaymentPlan = {
  step: 'create',
  noun: 'the onramp',
  words: ONRAMP_WORDS,
  hasLookup: true,
  firstLookMs: ONRAMP_FIRST_LOOK_MS,
  stages: [
    ['fiat-leg', ['PENDING', 'FIAT_INITIATED', 'FIAT_PENDING']],
    ['crypto-leg', ['FIAT_SUCCESSFUL', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_SUCCESSFUL', 'CRYPTO_FAILED']],
  ],
};

/**
 * An onramp: the customer pays fiat, the service sends crypto. Its two legs are told by `getOnChainDeposit`. A payment
 * that failed ends it with nothing taken; crypto that failed after the payment was collected is never called failed.
 */
export async function onramp(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('onramp', input, carried?.flow, async (flow) => {
    const payment = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) {
      await submitPayment(flow, payment, ONRAMP);
      sayHowToPay(flow, payment);
    } else hearPaymentEvents(flow, payment, ONRAMP);
    return trackPayment(flow, payment, ONRAMP);
  });
}

/** The redirect URL itself is for the caller alone: the flow's answer carries it, the timeline does not. */
function sayHowToPay(flow: Flow, payment: Payment): void {
  const { redirectUrl } = (payment.answer ?? {}) as Partial<OnrampCreation>;
  const { mobileMoney, bankCheckout } = payment.input as OnrampInput;
  if (redirectUrl) flow.note('the customer pays at the redirect URL that the answer carries');
  else if (mobileMoney !== undefined) flow.note('the customer is asked to pay on the phone');
  else if (bankCheckout !== undefined) flow.note('the redirect URL of the checkout was lost with the answer');
}
