import { kycCheckPlan } from './core/kyc-check.js';
import { coreFlow } from './core/flow.js';

/** A KYC check: wait for the decision on a KYC record. `getKycStatus` reports it. */
export const kycCheck = coreFlow(kycCheckPlan);
