import { z } from 'zod';
import type { MobileMoneyDeposit } from '../contract/deposit.js';
import { callbackEvent } from './callback.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput } from './input.js';

/** Input of a `mobile-money-watch`: the reference that a mobile money deposit was started under, elsewhere. */
export const MobileMoneyWatchInput = z.strictObject({ referenceId: callerReference(), ...commonInput });
export type MobileMoneyWatchInput = z.infer<typeof MobileMoneyWatchInput>;

export const mobileMoneyWatchFlow = defineFlow({
  kind: 'mobile-money-watch',
  input: MobileMoneyWatchInput,
  referenceOf: (input) => input.referenceId,
  decidedBy: ({ referenceId }) => ({ referenceId }),
  summaryOf: () => 'Watch of a mobile money deposit',
  webhooks: ['transaction.deposit.status.updated'],
  status: {
    operation: 'getMobileMoneyDeposit',
    referenceOf: (input) => input.referenceId,
    read: (record) => ({ status: (record as MobileMoneyDeposit).status ?? null, facts: {} }),
  },
  readEvent: (body) => callbackEvent(body),
});
