import { type KindUnderTest, same } from '../harness/kind.js';
import { SOUTH_AFRICAN_PAYER } from '../harness/parties.js';

export default {
  like: 'by-events',
  hasLookup: false,
  record: 'createBankCheckout',
  posts: {
    createBankCheckout: {
      path: '/api/v3/deposit/bank/checkout',
      step: 'checkout',
      terms: same('amount', 'currency', 'phoneNumber', 'fullName'),
      booked: ['amount', 'currency'],
      reportedAt: 'SUCCESSFUL',
    },
  },
  input: (referenceId) => ({ referenceId, ...SOUTH_AFRICAN_PAYER, paymentMethod: 'PAYBYBANK' }),
  ordered: (reference) => [{ operation: 'createBankCheckout', reference, amount: '250.50', currency: 'ZAR' }],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'declined', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'expired', 'declined', 'slow', 'never', 'review', 'no-callbacks-ever', 'success-after-timeout', 'reversed', 'rejected', 'insufficient-funds'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
