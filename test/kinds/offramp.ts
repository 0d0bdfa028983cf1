import { type KindUnderTest, same } from '../harness/kind.js';
import { KENYAN_PHONE } from '../harness/parties.js';

export default {
  like: 'looked-up',
  hasLookup: true,
  record: 'createOfframp',
  posts: {
    createOfframp: {
      path: '/api/v3/offramp',
      step: 'create',
      terms: same('cryptoAmount', 'currency', 'chain', 'token', 'mobileMoneyReceiver', 'bankReceiver'),
      booked: ['cryptoAmount', 'token'],
    },
  },
  input: (referenceId) => ({
    referenceId,
    cryptoAmount: '12.50',
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    mobileMoneyReceiver: { phoneNumber: KENYAN_PHONE, accountName: 'Canary Receiver', networkProvider: 'MPESA' },
  }),
  ordered: (reference) => [
    { operation: 'createOfframp', reference, amount: '12.5', currency: 'USDC', receiver: KENYAN_PHONE },
  ],
  open: { ending: 'never', rest: ['CRYPTO_RECEIVED', 'SUCCESS'] },
  fails: { ending: 'failed-early', reason: 'failed_at_service' },
  refunds: 'failed-then-refunded',
  endings: ['refund-failed', 'failed-then-refunded', 'failed-no-refund', 'failed-early', 'no-callbacks-ever', 'never', 'payout-never', 'slow', 'success-after-timeout', 'review', 'rejected'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
