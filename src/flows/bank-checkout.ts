import type { z } from 'zod';
import { BankCheckoutRequest } from '../contract/deposit.js';
import { toWireNumber } from '../money.js';
import { callbackEvent } from './callback.js';
import {
  alpha2Of,
  country,
  fitsCurrency,
  callerReference,
  commonInput,
  decimalAmount,
  isPhoneNumber,
  LOCAL_PHONE_PROBLEM,
} from './input.js';
import { asItIs, DEPOSIT_READS } from './service-interface.js';
import { defineFlow } from './flow.js';
import { terms } from './terms.js';

export const PAYMENT_CONFIRMED_EVENT = 'payment.confirmed';

/**
 * Input of a `bank-checkout`: the body of the operation, the amount as a decimal string or number. `referenceId` is
 * optional on the wire and required here, since nothing else identifies a checkout.
 */
export const BankCheckoutInput = BankCheckoutRequest.extend({
  amount: decimalAmount(),
  country: country().optional(),
  referenceId: callerReference(),
  ...commonInput,
})
  .superRefine(fitsCurrency('amount', 'currency'))
  .refine((input) => isPhoneNumber(input.phoneNumber, input.country && alpha2Of(input.country)), {
    path: ['phoneNumber'],
    message: LOCAL_PHONE_PROBLEM,
  });
export type BankCheckoutInput = z.infer<typeof BankCheckoutInput>;

export const bankCheckoutFlow = defineFlow({
  kind: 'bank-checkout',
  input: BankCheckoutInput,
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Bank checkout: ${input.amount} ${input.currency}`,
  moneyOf: ({ amount, currency }) => ({ amount, currency, member: 'amount' }),
  termsOf: ({ amount, currency, phoneNumber }) => terms({ sends: { amount, currency }, payer: phoneNumber }),
  webhooks: ['transaction.deposit.status.updated', PAYMENT_CONFIRMED_EVENT],
  submissions: {
    checkout: {
      operation: 'createBankCheckout',
      decidedBy: (input) => decidedOf(input),
      request: (input, { callbackUrl }) => {
        const { customerRedirectUrl, referenceId } = input;
        const redirect = customerRedirectUrl === undefined ? {} : { customerRedirectUrl };
        return { ...decidedOf(input), amount: toWireNumber(input.amount), ...redirect, referenceId, callbackUrl };
      },
      factsOf: ({ amount, currency }) => ({ amount, currency }),
    },
  },
  carriesOut: { createBankCheckout: asItIs },
  reads: DEPOSIT_READS,
  refundedWord: 'REVERSED',
  readEvent: (body) => callbackEvent(body, (fields, event) => fields.status ?? confirmedBy(event)),
  demo: {
    name: 'checkout',
    title: 'its answer is lost, and only the callback can prove it',
    expected: 'completed',
    executes: { createBankCheckout: 1 },
    fault: { operation: 'createBankCheckout', kind: 'answer-lost', executed: true },
  },
  docs: {
    story: "create → the customer pays at the bank's page",
    learns: 'callback and account webhook that are proven; no lookup',
    guaranteed: 'a failure counts only after a minute without contradiction',
    atDeadline: ['no_settlement', 'unverified_settlement'],
  },
});

/** The name of this event is its meaning, so it may come without a status. */
export const confirmedBy = (event: string | null) => (event === PAYMENT_CONFIRMED_EVENT ? 'CONFIRMED' : null);

function decidedOf(input: BankCheckoutInput) {
  const { fullName, phoneNumber, paymentMethod, currency, amount } = input;
  const where = input.country === undefined ? {} : { country: input.country };
  return { fullName, phoneNumber, paymentMethod, currency, amount, ...where };
}
