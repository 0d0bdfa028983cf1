import { type KindUnderTest, same } from '../harness/kind.js';
import { CANARY_CARD, SOUTH_AFRICAN_PAYER } from '../harness/parties.js';

export default {
  like: 'by-events',
  hasLookup: false,
  record: 'createCardDeposit',
  posts: {
    createCardDeposit: {
      path: '/api/v3/deposit/card',
      step: 'deposit',
      terms: same('amount', 'currency', 'phoneNumber', 'fullName'),
      booked: ['amount', 'currency'],
      reportedAt: 'SUCCESSFUL',
    },
  },
  input: (referenceId) => ({ referenceId, ...SOUTH_AFRICAN_PAYER, card: CANARY_CARD }),
  ordered: (reference) => [{ operation: 'createCardDeposit', reference, amount: '250.50', currency: 'ZAR' }],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'expired', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'expired', 'declined', 'slow', 'never', 'review', 'no-callbacks-ever', 'success-after-timeout', 'reversed', 'rejected', 'insufficient-funds'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
