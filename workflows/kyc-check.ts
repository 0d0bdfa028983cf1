import { KYC_WORDS } from '../src/flows/meanings.js';
import type { FlowReport } from '../src/flows/messages.js';
import { hearPaymentEvents, preparePayment, type PaymentCarried, type TrackPlan } from './payment/payment.js';
import { trackPayment } from './payment/track.js';
import { KYC_LOOK_EVERY_MS } from './steps/policies.js';
import { runFlow } from './steps/run-flow.js';

const RECORD: TrackPlan = {
  noun: 'the KYC record',
  words: KYC_WORDS,
  hasLookup: true,
  firstLookMs: 0,
  lookEveryMs: KYC_LOOK_EVERY_MS,
  // A record that was rejected may be handed in anew, and approved.
  isOnlyHinted: true,
  overdue: 'no_decision',
  ends: {
    succeeded: 'The KYC record was approved.',
    failed: ['kyc_rejected', 'The KYC record was rejected.'],
  },
};

/**
 * A KYC check: wait for the decision on a KYC record. No money moves, so it can be cancelled at any time. Its end is told
 * by `getKycStatus`; `kyc.status.changed` makes it look at once.
 */
export async function kycCheck(input: unknown, carried?: PaymentCarried): Promise<FlowReport> {
  return runFlow('kyc-check', input, carried?.flow, async (flow) => {
    const record = carried?.payment ?? (await preparePayment(flow, input));
    if (carried === undefined) flow.enter('tracking', 'waiting for the decision');
    hearPaymentEvents(flow, record, RECORD);
    return trackPayment(flow, record, RECORD);
  });
}
