import type { OnrampCreation } from '../src/contract/onramp.js';
import type { OnrampInput } from '../src/flows/onramp.js';
import { ONRAMP_WORDS } from '../src/protocol/statuses.js';
import { ONRAMP_FIRST_LOOK_MS } from './engine/policies.js';
import type { Plan } from './engine/plan.js';

/**
 * An onramp: the customer pays fiat, the service sends crypto. `getOnChainDeposit` reports its two legs. A failed
 * payment ends it with nothing collected; if the crypto failed after the payment was collected, the flow never ends as
 * failed by itself.
 */
export const onrampPlan: Plan = {
  kind: 'onramp',
  noun: 'the onramp',
  words: ONRAMP_WORDS,
  firstLookMs: ONRAMP_FIRST_LOOK_MS,
  graceMs: 0,
  requests: [{ name: 'create', operation: 'createOnramp', lookUp: 'own' }],
  stages: [
    ['fiat-leg', ['PENDING', 'FIAT_INITIATED', 'FIAT_PENDING']],
    ['crypto-leg', ['FIAT_SUCCESSFUL', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_SUCCESSFUL', 'CRYPTO_FAILED']],
  ],
  noteOfAnswer: howToPay,
};

/** The redirect URL itself is for the caller alone: the flow's answer carries it, the timeline does not. */
function howToPay(input: unknown, answer: unknown): ReturnType<NonNullable<Plan['noteOfAnswer']>> {
  const { redirectUrl } = (answer ?? {}) as Partial<OnrampCreation>;
  const { mobileMoney, bankCheckout } = (input ?? {}) as Partial<OnrampInput>;
  if (redirectUrl) return ['pays-at-redirect', 'the customer pays at the redirect URL that the answer carries'];
  if (mobileMoney !== undefined) return ['pays-on-phone', 'the customer is asked to pay on the phone'];
  if (bankCheckout !== undefined) return ['redirect-lost', 'the redirect URL of the checkout was lost with the answer'];
  return undefined;
}
