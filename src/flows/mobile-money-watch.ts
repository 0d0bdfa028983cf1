import { z } from 'zod';
import type { MobileMoneyDeposit } from '../contract/deposit.js';
import { PAYMENT_WORDS } from '../protocol/statuses.js';
import { callbackEvent } from './callback.js';
import { DEPOSIT_READS, saysStatus } from './service-interface.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput } from './input.js';
import { statusIn } from './record-facts.js';

/** Input of a `mobile-money-watch`: the reference that a mobile money deposit was started under, elsewhere. */
const MobileMoneyWatchInput = z.strictObject({ referenceId: callerReference(), ...commonInput });
export type MobileMoneyWatchInput = z.infer<typeof MobileMoneyWatchInput>;

export const mobileMoneyWatchFlow = defineFlow({
  kind: 'mobile-money-watch',
  input: MobileMoneyWatchInput,
  referenceMember: 'referenceId',
  decidedBy: ({ referenceId }) => ({ referenceId }),
  summaryOf: () => 'Watch of a mobile money deposit',
  webhooks: ['transaction.deposit.status.updated'],
  status: {
    operation: 'getMobileMoneyDeposit',
    read: (record) => ({ status: statusIn((record as MobileMoneyDeposit).status), facts: {} }),
  },
  reads: {
    ...DEPOSIT_READS,
    getMobileMoneyDeposit: { words: PAYMENT_WORDS, said: saysStatus('reference_id', { completed: 'SUCCESSFUL' }) },
  },
  readEvent: (body) => callbackEvent(body),
  demo: {
    name: 'watch',
    title: 'a mobile money deposit that was started elsewhere is watched',
    expected: 'completed',
    executes: { mobileMoneyDeposit: 1 },
    begunBy: (referenceId) => ({
      path: '/mobile-money-deposits',
      body: { referenceId, amount: 1_000.5, currency: 'KES', phoneNumber: '+254712345678' },
    }),
  },
  docs: {
    story: 'watch a deposit that was started elsewhere',
    learns: '`getMobileMoneyDeposit`, or at once when a webhook hints',
    guaranteed: 'no money moves; it can be cancelled at any time',
    atDeadline: ['no_settlement'],
  },
});
