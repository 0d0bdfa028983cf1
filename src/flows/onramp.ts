import type { z } from 'zod';
import { OnrampBankCheckout, OnrampMobileMoney, OnrampRequest } from '../contract/onramp.js';
import { toWireNumber } from '../money.js';
import { addressFact } from './address-fact.js';
import { fitsCurrency } from './decimals.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput, decimalAmount } from './input.js';
import { ONRAMP_EVENTS, onrampEvent } from './onramp-event.js';
import { onrampFacts, onrampStatus } from './onramp-legs.js';
import { phoneNumber } from './phone-number.js';
import { ONRAMP_WORDS } from './meanings.js';

/**
 * Input of an `onramp`: the body of the operation, the amount as a decimal string or number. Mobile money, bank
 * checkout, both or neither: all are seen on the wire (`assumptions.ts`).
 */
export const OnrampInput = OnrampRequest.omit({ callbackUrl: true })
  .extend({
    referenceId: callerReference(),
    fiatAmount: decimalAmount(),
    mobileMoney: OnrampMobileMoney.extend({ phoneNumber: phoneNumber() }).optional(),
    bankCheckout: OnrampBankCheckout.extend({ phoneNumber: phoneNumber() }).optional(),
    ...commonInput,
  })
  .superRefine(fitsCurrency('fiatAmount', 'currency'));
export type OnrampInput = z.infer<typeof OnrampInput>;

export const onrampFlow = defineFlow<OnrampInput>({
  kind: 'onramp',
  input: OnrampInput,
  referenceOf: (input) => input.referenceId,
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, rateId: _rate, ...decided }) => decided,
  summaryOf: (input) => `Onramp: ${input.fiatAmount} ${input.currency} → ${input.token} on ${input.chain}`,
  moneyOf: ({ fiatAmount, currency }) => ({ amount: fiatAmount, currency }),
  submissions: {
    create: {
      operation: 'createOnramp',
      referenceOf: (input) => input.referenceId,
      decidedBy: (input) => {
        const { rateId: _rate, ...decided } = bodyOf(input);
        return decided;
      },
      request: (input, { callbackUrl }) => ({
        ...bodyOf(input),
        fiatAmount: toWireNumber(input.fiatAmount),
        callbackUrl,
      }),
      shownBy: Object.keys(ONRAMP_WORDS),
      factsOf: ({ fiatAmount, currency, receiverAddress }) => ({
        fiatAmount,
        currency,
        receiverAddress: addressFact(receiverAddress),
      }),
    },
  },
  status: {
    operation: 'getOnChainDeposit',
    referenceOf: (input) => input.referenceId,
    // The service may know the payment before it knows of anything on a chain.
    besides: {
      operation: 'getMobileMoneyDeposit',
      isNeeded: (record) => (record as { mobile_money?: unknown } | undefined)?.mobile_money == null,
    },
    read: (record, mobileMoney) => ({ status: onrampStatus(record, mobileMoney), facts: onrampFacts(record) }),
  },
  webhooks: ONRAMP_EVENTS,
  readEvent: onrampEvent,
});

/** The body of the operation without the callback URL, which is ours. */
function bodyOf({ callbackUrl: _url, deadlineSeconds: _deadline, timeScale: _scale, ...body }: OnrampInput) {
  return body;
}
