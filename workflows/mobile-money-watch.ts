import { mobileMoneyWatchPlan } from './core/mobile-money-watch.js';
import { coreFlow } from './core/flow.js';

/** Watches a mobile money deposit that was started elsewhere → paid. `getMobileMoneyDeposit` reports its end. */
export const mobileMoneyWatch = coreFlow(mobileMoneyWatchPlan);
