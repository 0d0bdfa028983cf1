import { offrampPlan } from './core/offramp.js';
import { coreFlow } from './core/flow.js';

/** An offramp: crypto comes in, fiat goes out to a phone or a bank account. `getOfframp` reports its end. */
export const offramp = coreFlow(offrampPlan);
