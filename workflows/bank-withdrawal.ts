import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import { FAILURE_GRACE_MS, LIVE_FIRST_LOOK_MS } from './engine/policies.js';
import type { Plan } from './engine/plan.js';

/**
 * A bank withdrawal: out of the integrator's wallet → paid out to a South African bank account. The interface has no
 * lookup for it: the callback and the account webhook report its end, or a person decides at the deadline. The live
 * service has one, which may know mobile payouts alone.
 */
export const bankWithdrawalPlan: Plan = {
  kind: 'bank-withdrawal',
  noun: 'the bank withdrawal',
  words: PAYMENT_WORDS,
  firstLookMs: LIVE_FIRST_LOOK_MS,
  graceMs: FAILURE_GRACE_MS,
  requests: [{ name: 'withdraw', operation: 'createBankWithdrawal', lookUp: 'live', provenByEvents: true }],
};
