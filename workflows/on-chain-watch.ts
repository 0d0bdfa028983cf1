import { onChainWatchPlan } from './core/on-chain-watch.js';
import { coreFlow } from './core/flow.js';

/** Watches an on-chain deposit that was started elsewhere: fiat in → crypto out. `getOnChainDeposit` reports its two legs. */
export const onChainWatch = coreFlow(onChainWatchPlan);
