import { CHECKOUT_WORDS } from '../src/protocol/statuses.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './engine/policies.js';
import type { Plan } from './engine/plan.js';

/**
 * A bank checkout: create it → the customer pays at the bank's page. The service's answer (where to send the customer)
 * goes to the caller by the update `answer`. The interface has no lookup for it: the callback and the account webhooks
 * report its end, or a person decides at the deadline.
 */
export const bankCheckoutPlan: Plan = {
  kind: 'bank-checkout',
  noun: 'the bank checkout',
  words: CHECKOUT_WORDS,
  firstLookMs: NO_LOOK_MS,
  graceMs: FAILURE_GRACE_MS,
  requests: [{ name: 'checkout', operation: 'createBankCheckout', lookUp: 'none' }],
};
