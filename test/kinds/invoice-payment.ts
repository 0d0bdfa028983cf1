import { type KindUnderTest, same } from '../harness/kind.js';
import { KENYAN_PHONE, MOBILE_MONEY } from '../harness/parties.js';

const BANK = { accountName: 'Canary Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' };

export default {
  like: 'own',
  hasLookup: true,
  record: 'payInvoice',
  posts: {
    createInvoice: {
      path: '/api/v3/cross-boarder/invoice',
      step: 'generate',
      terms: same('amount', 'currency', 'bank'),
      booked: ['amount', 'currency'],
    },
    payInvoice: {
      path: '/api/v3/cross-boarder/invoice/pay',
      step: 'pay',
      terms: { ...same('amount', 'currency'), mobileMoney: ['payment.mobileMoney', 'mobileMoney'] },
      booked: ['amount', 'currency'],
      alone: {
        input: (referenceId) => ({ referenceId, currency: 'KES', amount: '1000.50', mobileMoney: MOBILE_MONEY }),
        after: {
          operation: 'createInvoice',
          body: (referenceId) => ({ referenceId, currency: 'KES', amount: 1_000.5, bank: BANK }),
        },
      },
    },
  },
  input: (referenceId) => ({
    referenceId,
    currency: 'KES',
    amount: '1000.50',
    bank: BANK,
    payment: { mobileMoney: MOBILE_MONEY },
  }),
  ordered: (reference) => [
    { operation: 'createInvoice', reference, amount: '1000.50', currency: 'KES', receiver: '0012345678' },
    { operation: 'payInvoice', reference, amount: '1000.50', currency: 'KES', receiver: KENYAN_PHONE },
  ],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'slow', 'never', 'no-callbacks-ever', 'success-after-timeout', 'rejected'],
  overdue: 'no_settlement',
  // The invoice is read; and whether it is paid already, by the flow, and by the attempt right before it sends.
  asksAtStart: 3,
} satisfies KindUnderTest;
