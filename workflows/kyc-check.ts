import { KYC_WORDS } from '../src/protocol/statuses.js';
import { KYC_LOOK_EVERY_MS } from './engine/policies.js';
import type { Plan, Rule } from './engine/plan.js';
import { lookAtStatus } from './engine/situation.js';

const RULES: readonly Rule[] = [
  {
    name: 'decided-again',
    says: 'An event reports another decision than the one that was looked up: it is looked up again.',
    when: (v) => v.state.kind === 'ended' && v.is.hinted && !v.is.looked,
    follows: (v) => ({ steps: [lookAtStatus(v)], isCheck: true }),
  },
];

/**
 * A KYC check: wait for the decision on a KYC record. It moves no money, so it can be cancelled at any time.
 * `getKycStatus` reports its end; `kyc.status.changed` triggers a lookup at once.
 */
export const kycCheckPlan: Plan = {
  kind: 'kyc-check',
  noun: 'the KYC record',
  words: KYC_WORDS,
  firstLookMs: 0,
  lookEveryMs: KYC_LOOK_EVERY_MS,
  graceMs: 0,
  requests: [{ name: 'record', operation: 'getKycStatus', lookUp: 'own', watching: 'waiting for the decision' }],
  // A rejected record may be submitted again, and approved.
  isOnlyHinted: true,
  rules: RULES,
  overdueAs: 'no_decision',
  ends: {
    succeeded: 'The KYC record was approved.',
    failed: ['kyc_rejected', 'The KYC record was rejected.'],
  },
};
