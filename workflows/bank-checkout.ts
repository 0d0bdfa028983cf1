import { bankCheckoutPlan } from './core/bank-checkout.js';
import { coreFlow } from './core/flow.js';

/** A bank checkout: create it → the customer pays at the bank's page. The callback and the account webhooks report its end. */
export const bankCheckout = coreFlow(bankCheckoutPlan);
