import { ONRAMP_WORDS } from '../src/protocol/statuses.js';
import { onrampPlan } from './onramp.js';
import type { Plan } from './engine/plan.js';

/**
 * Watches an on-chain deposit that was started elsewhere: fiat in → crypto out. It moves no money, so it can be cancelled
 * at any time. `getOnChainDeposit` reports its two legs; `deposit.onchain.successful` triggers a lookup at once.
 */
export const onChainWatchPlan: Plan = {
  kind: 'on-chain-watch',
  noun: 'the on-chain deposit',
  words: ONRAMP_WORDS,
  // It was started some time ago, and may have ended.
  firstLookMs: 0,
  graceMs: 0,
  requests: [
    {
      name: 'deposit',
      operation: 'getOnChainDeposit',
      lookUp: 'own',
      watching: 'watching the on-chain deposit',
    },
  ],
  ...(onrampPlan.stages === undefined ? {} : { stages: onrampPlan.stages }),
};
