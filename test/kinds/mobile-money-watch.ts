import type { KindUnderTest } from '../harness/kind.js';
import { KENYAN_PHONE } from '../harness/parties.js';

export default {
  like: 'watched',
  hasLookup: true,
  record: 'mobileMoneyDeposit',
  posts: {},
  begunBy: (referenceId) => ({
    path: '/mobile-money-deposits',
    body: { referenceId, amount: 250.5, currency: 'KES', phoneNumber: KENYAN_PHONE },
  }),
  input: (referenceId) => ({ referenceId }),
  ordered: () => [],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'never', 'slow', 'expired', 'success-after-timeout'],
  overdue: 'no_settlement',
  asksAtStart: 1,
} satisfies KindUnderTest;
