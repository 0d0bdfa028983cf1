import { onrampPlan } from './core/onramp.js';
import { coreFlow } from './core/flow.js';

/** An onramp: the customer pays fiat, the service sends crypto. `getOnChainDeposit` reports its two legs. */
export const onramp = coreFlow(onrampPlan);
