import { z } from 'zod';
import { ON_CHAIN_DEPOSIT_EVENT } from '../contract/events.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput } from './input.js';
import { LEGS_LOOKUP, LEGS_READS, onrampEvent } from './onramp.js';

/** Input of an `on-chain-watch`: the reference that an on-chain deposit was started under, elsewhere. */
const OnChainWatchInput = z.strictObject({ referenceId: callerReference(), ...commonInput });
export type OnChainWatchInput = z.infer<typeof OnChainWatchInput>;

export const onChainWatchFlow = defineFlow({
  kind: 'on-chain-watch',
  input: OnChainWatchInput,
  referenceMember: 'referenceId',
  decidedBy: ({ referenceId }) => ({ referenceId }),
  summaryOf: () => 'Watch of an on-chain deposit',
  // Other events of such a deposit are named after the operation or the payment, and other kinds have these names.
  webhooks: [ON_CHAIN_DEPOSIT_EVENT],
  // Its terms are not known here, so there is nothing to compare the record with.
  status: { ...LEGS_LOOKUP, read: (...records) => ({ status: LEGS_LOOKUP.read(...records).status, facts: {} }) },
  reads: LEGS_READS,
  readEvent: onrampEvent,
  demo: {
    name: 'on-chain-watch',
    title: 'an on-chain deposit that was started elsewhere is watched',
    expected: 'completed',
    executes: { onChainDeposit: 1 },
    begunBy: (referenceId) => ({
      path: '/on-chain-deposits',
      body: {
        referenceId,
        fiatAmount: 1_000.5,
        currency: 'KES',
        chain: 'CELO',
        token: 'USDC',
        receiverAddress: '0x1111111111111111111111111111111111111111',
        mobileMoney: { phoneNumber: '+254712345678' },
      },
    }),
  },
  docs: {
    story: 'watch an on-chain deposit that was started elsewhere: fiat in → crypto out',
    learns: '`getOnChainDeposit`, `getMobileMoneyDeposit`, or at once when a webhook hints',
    guaranteed:
      'no money moves; it can be cancelled at any time; if the crypto fails after the fiat was collected, it does not fail',
    atDeadline: ['no_settlement'],
    parks: '`crypto_leg_failed`',
  },
});
