import type { KindUnderTest } from '../harness/kind.js';

export default {
  like: 'watched',
  hasLookup: true,
  record: 'getKycStatus',
  posts: {},
  input: (kycId) => ({ kycId }),
  ordered: () => [],
  open: { ending: 'kyc-pending', rest: ['APPROVED'] },
  fails: { ending: 'kyc-rejected', reason: 'kyc_rejected' },
  endings: ['kyc-rejected', 'kyc-pending', 'kyc-review', 'kyc-slow', 'kyc-already-approved', 'kyc-already-rejected'],
  overdue: 'no_decision',
  asksAtStart: 1,
} satisfies KindUnderTest;
