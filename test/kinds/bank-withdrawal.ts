import { type KindUnderTest, same } from '../harness/kind.js';

export default {
  like: 'by-events',
  hasLookup: false,
  record: 'createBankWithdrawal',
  posts: {
    createBankWithdrawal: {
      path: '/api/v3/withdraw/v2/bank',
      step: 'withdraw',
      terms: same('amount', 'currency', 'bankDetails'),
      booked: ['amount', 'currency'],
      reportedAt: 'SUCCESSFUL',
    },
  },
  input: (referenceId) => ({
    referenceId,
    bankDetails: { name: 'Canary Receiver', bankCode: '0250', accountNumber: '62000000001', country: 'ZA' },
    currency: 'ZAR',
    amount: '250.50',
  }),
  ordered: (reference) => [
    { operation: 'createBankWithdrawal', reference, amount: '250.50', currency: 'ZAR', receiver: '62000000001' },
  ],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'never', 'slow', 'reversed', 'no-callbacks-ever', 'success-after-timeout', 'review', 'rejected', 'insufficient-funds'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
