import type { z } from 'zod';
import { OfframpBankReceiver, OfframpMobileMoneyReceiver, OfframpRequest } from '../contract/offramp.js';
import { toWireNumber } from '../money.js';
import { addressFact } from './address-fact.js';
import { country } from './country.js';
import { fitsCurrency } from './decimals.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput, decimalAmount } from './input.js';
import { offrampEvent, offrampFacts, offrampStatus, REFUND_EVENTS } from './offramp-record.js';
import { contactNumber, phoneNumber } from './phone-number.js';
import { OFFRAMP_WORDS } from './meanings.js';

/**
 * Input of an `offramp`: the body of the operation, the amount as a decimal string or number. Which receiver must be
 * given is not shown: either, both or neither is sent (`assumptions.ts`).
 */
export const OfframpInput = OfframpRequest.extend({
  referenceId: callerReference(),
  cryptoAmount: decimalAmount(),
  mobileMoneyReceiver: OfframpMobileMoneyReceiver.extend({ phoneNumber: phoneNumber() }).optional(),
  bankReceiver: OfframpBankReceiver.extend({
    phoneNumber: contactNumber().optional(),
    country: country().optional(),
  }).optional(),
  ...commonInput,
}).superRefine(fitsCurrency('cryptoAmount', 'token'));
export type OfframpInput = z.infer<typeof OfframpInput>;

export const offrampFlow = defineFlow<OfframpInput>({
  kind: 'offramp',
  input: OfframpInput,
  referenceOf: (input) => input.referenceId,
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, rateId: _rate, ...decided }) => decided,
  summaryOf: (input) => `Offramp: ${input.cryptoAmount} ${input.token} on ${input.chain} → ${input.currency}`,
  moneyOf: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token }),
  submissions: {
    create: {
      operation: 'createOfframp',
      referenceOf: (input) => input.referenceId,
      decidedBy: (input) => {
        const { rateId: _rate, ...decided } = bodyOf(input);
        return decided;
      },
      request: (input, { callbackUrl }) => ({
        ...bodyOf(input),
        cryptoAmount: toWireNumber(input.cryptoAmount),
        callbackUrl,
      }),
      // The record does not show the receiver; the sender only where it is not the integrator's own wallet.
      shownBy: Object.keys(OFFRAMP_WORDS),
      factsOf: ({ cryptoAmount, currency, senderAddress }) => ({
        cryptoAmount,
        fiatCurrency: currency,
        ...(senderAddress === undefined ? {} : { senderAddress: addressFact(senderAddress) }),
      }),
    },
  },
  status: {
    operation: 'getOfframp',
    referenceOf: (input) => input.referenceId,
    read: (record) => ({ status: offrampStatus(record), facts: offrampFacts(record) }),
  },
  webhooks: ['transaction.offramp.status.updated', ...REFUND_EVENTS],
  readEvent: offrampEvent,
});

/** The body of the operation without the callback URL, which is ours. */
function bodyOf({ callbackUrl: _url, deadlineSeconds: _deadline, timeScale: _scale, ...body }: OfframpInput) {
  return body;
}
