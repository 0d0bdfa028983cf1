import { type KindUnderTest, same } from '../harness/kind.js';
import { EVM_ADDRESS, MOBILE_MONEY } from '../harness/parties.js';

export default {
  like: 'looked-up',
  hasLookup: true,
  record: 'createOnramp',
  posts: {
    createOnramp: {
      path: '/api/v3/onramp',
      step: 'create',
      terms: same('fiatAmount', 'currency', 'chain', 'token', 'receiverAddress', 'mobileMoney', 'bankCheckout'),
      booked: ['fiatAmount', 'currency'],
    },
  },
  input: (referenceId) => ({
    referenceId,
    fiatAmount: '1000.50',
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    receiverAddress: EVM_ADDRESS,
    mobileMoney: MOBILE_MONEY,
  }),
  ordered: (reference) => [
    { operation: 'createOnramp', reference, amount: '1000.50', currency: 'KES', receiver: EVM_ADDRESS },
  ],
  open: { ending: 'never', rest: ['CRYPTO_PENDING', 'PROCESSING', 'SUCCESS'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'expired', 'slow', 'never', 'review', 'no-callbacks-ever', 'success-after-timeout', 'crypto-failed', 'crypto-never', 'declined', 'rejected'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
