import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import type { Plan } from './engine/plan.js';

/**
 * Watches a mobile money deposit that was started elsewhere → paid. It moves no money, so it can be cancelled at any
 * time. `getMobileMoneyDeposit` reports its end; `transaction.deposit.status.updated` triggers a lookup at once.
 */
export const mobileMoneyWatchPlan: Plan = {
  kind: 'mobile-money-watch',
  noun: 'the mobile money deposit',
  words: PAYMENT_WORDS,
  // It was started some time ago, and may have ended.
  firstLookMs: 0,
  graceMs: 0,
  requests: [
    {
      name: 'deposit',
      operation: 'getMobileMoneyDeposit',
      lookUp: 'own',
      watching: 'watching the mobile money deposit',
    },
  ],
};
