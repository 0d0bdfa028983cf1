import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';

/**
 * Watches a mobile money deposit that was started elsewhere → paid. It moves no money, so it can be cancelled at any
 * time. `getMobileMoneyDeposit` reports its end; `transaction.deposit.status.updated` triggers a lookup at once.
 */
export const mobileMoneyWatch = paymentFlow('mobile-money-watch', {
  watching: 'watching the mobile money deposit',
  noun: 'the mobile money deposit',
  words: PAYMENT_WORDS,
  hasLookup: true,
  // It was started some time ago, and may have ended.
  firstLookMs: 0,
});
