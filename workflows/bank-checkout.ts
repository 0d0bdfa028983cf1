import { CHECKOUT_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './engine/policies.js';

/**
 * A bank checkout: create it → the customer pays at the bank's page. The service's answer (where to send the customer)
 * goes to the caller by the update `answer`. The interface has no lookup for it: the callback and the account webhooks
 * report its end, or a person decides at the deadline.
 */
export const bankCheckout = paymentFlow('bank-checkout', {
  step: 'checkout',
  noun: 'the bank checkout',
  words: CHECKOUT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
});
