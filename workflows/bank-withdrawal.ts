import { bankWithdrawalPlan } from './core/bank-withdrawal.js';
import { coreFlow } from './core/flow.js';

/**
 * A bank withdrawal: out of the integrator's wallet → paid out to a South African bank account. The interface has no
 * lookup for it: the callback and the account webhook report its end, or a person decides at the deadline.
 */
export const bankWithdrawal = coreFlow(bankWithdrawalPlan);
