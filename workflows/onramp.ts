import type { OnrampCreation } from '../src/contract/onramp.js';
import type { OnrampInput } from '../src/flows/onramp.js';
import { ONRAMP_WORDS } from '../src/protocol/statuses.js';
import type { Flow } from './engine/flow.js';
import { paymentFlow } from './engine/payment-flow.js';
import type { Payment } from './engine/payment.js';
import { ONRAMP_FIRST_LOOK_MS } from './engine/policies.js';

/**
 * An onramp: the customer pays fiat, the service sends crypto. `getOnChainDeposit` reports its two legs. A failed
 * payment ends it with nothing collected; if the crypto failed after the payment was collected, the flow never ends as
 * failed by itself.
 */
export const onramp = paymentFlow(
  'onramp',
  {
    step: 'create',
    noun: 'the onramp',
    words: ONRAMP_WORDS,
    hasLookup: true,
    firstLookMs: ONRAMP_FIRST_LOOK_MS,
    stages: [
      ['fiat-leg', ['PENDING', 'FIAT_INITIATED', 'FIAT_PENDING']],
      ['crypto-leg', ['FIAT_SUCCESSFUL', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_SUCCESSFUL', 'CRYPTO_FAILED']],
    ],
  },
  { submitted: noteHowToPay },
);

/** The redirect URL itself is for the caller alone: the flow's answer carries it, the timeline does not. */
function noteHowToPay(flow: Flow, payment: Payment): void {
  const { redirectUrl } = (payment.answer ?? {}) as Partial<OnrampCreation>;
  const { mobileMoney, bankCheckout } = payment.input as OnrampInput;
  if (redirectUrl) flow.note('pays-at-redirect', 'the customer pays at the redirect URL that the answer carries');
  else if (mobileMoney !== undefined) flow.note('pays-on-phone', 'the customer is asked to pay on the phone');
  else if (bankCheckout !== undefined)
    flow.note('redirect-lost', 'the redirect URL of the checkout was lost with the answer');
}
