import { KYC_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';
import { KYC_LOOK_EVERY_MS } from './engine/policies.js';

/**
 * A KYC check: wait for the decision on a KYC record. It moves no money, so it can be cancelled at any time.
 * `getKycStatus` reports its end; `kyc.status.changed` triggers a lookup at once.
 */
export const kycCheck = paymentFlow('kyc-check', {
  watching: 'waiting for the decision',
  noun: 'the KYC record',
  words: KYC_WORDS,
  hasLookup: true,
  firstLookMs: 0,
  lookEveryMs: KYC_LOOK_EVERY_MS,
  // A rejected record may be submitted again, and approved.
  isOnlyHinted: true,
  overdue: 'no_decision',
  ends: {
    succeeded: 'The KYC record was approved.',
    failed: ['kyc_rejected', 'The KYC record was rejected.'],
  },
});
