import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';
import { FAILURE_GRACE_MS, NO_LOOK_MS } from './engine/policies.js';

/**
 * A bank withdrawal: out of the integrator's wallet → paid out to a South African bank account. The interface has no
 * lookup for it: the callback and the account webhook report its end, or a person decides at the deadline.
 */
export const bankWithdrawal = paymentFlow('bank-withdrawal', {
  step: 'withdraw',
  noun: 'the bank withdrawal',
  words: PAYMENT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
});
