import { z } from 'zod';
import { BankDetails, BankWithdrawalRequest } from '../contract/withdrawal.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { readReference } from '../readers/reference.js';
import { toWireNumber } from '../money.js';
import { callbackEvent, memberOf } from './callback.js';
import {
  alpha2Of,
  fitsCurrency,
  callerReference,
  commonInput,
  decimalAmount,
  isPhoneNumber,
  LOCAL_PHONE_PROBLEM,
} from './input.js';
import { factsIn, namesPayment, recordFact, statusIn } from './record-facts.js';
import { asItIs } from './service-interface.js';
import { defineFlow } from './flow.js';
import { terms } from './terms.js';

const SOUTH_AFRICA = 'ZA';

/** ISO-2, ISO-3, or the English name, since the interface does not show how `country` is spelled here. */
const isSouthAfrica = (text: string): boolean => alpha2Of(text) === SOUTH_AFRICA;

/** "Only South African banks are currently supported" ("Limits" of the interface). */
const SouthAfricanBank = BankDetails.extend({
  phoneNumber: z
    .string()
    .refine((text) => isPhoneNumber(text, SOUTH_AFRICA), { message: LOCAL_PHONE_PROBLEM })
    .optional(),
  country: z
    .string()
    .refine(isSouthAfrica, { message: 'only South African banks are currently supported: ZA, ZAF, or left out' })
    .optional(),
});

/**
 * Input of a `bank-withdrawal`: the body of the operation, the amount as a decimal string or number.
 *
 * Not shown: whether the *currency* is limited, too. The interface limits the banks, and lists all of FiatCurrency. So
 * we send every currency: the service refuses what it cannot pay out, and a refusal moves nothing, while a rule of our
 * own could refuse what the service can pay.
 */
export const BankWithdrawalInput = BankWithdrawalRequest.extend({
  bankDetails: SouthAfricanBank,
  amount: decimalAmount(),
  referenceId: callerReference(),
  ...commonInput,
}).superRefine(fitsCurrency('amount', 'currency'));
export type BankWithdrawalInput = z.infer<typeof BankWithdrawalInput>;

/** The facts that identify a looked-up withdrawal. Of its receiver a record shows the bank alone. */
export const withdrawalFacts = (record: unknown): Readonly<Record<string, string>> => ({
  ...factsIn({
    amount: recordFact(record, 'amount', readAmount),
    currency: recordFact(record, 'currency', readCode),
    ourReference: recordFact(record, 'referenceId', readReference),
  }),
  ...bankFact(memberOf(record, 'bankCode')),
});

/** A code in digits, whose zeros at the front may be lost on the way. A word may name the same bank. */
function bankFact(code: unknown): Readonly<Record<string, string>> {
  const digits = /^\s*0*(\d{1,20})\s*$/.exec(typeof code === 'number' || typeof code === 'string' ? String(code) : '');
  return digits?.[1] === undefined ? {} : { bankCode: digits[1] };
}

export const bankWithdrawalFlow = defineFlow({
  kind: 'bank-withdrawal',
  input: BankWithdrawalInput,
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Bank withdrawal: ${input.amount} ${input.currency}`,
  moneyOf: ({ amount, currency }) => ({ amount, currency, member: 'amount' }),
  termsOf: ({ amount, currency, bankDetails }) =>
    terms({ sends: { amount, currency }, recipient: bankDetails.accountNumber }),
  webhooks: ['transaction.withdrawal.status.updated'],
  submissions: {
    withdraw: {
      operation: 'createBankWithdrawal',
      decidedBy: ({ bankDetails, currency, amount }) => ({ bankDetails, currency, amount }),
      request: ({ bankDetails, currency, amount, referenceId }, { callbackUrl }) => ({
        bankDetails,
        currency,
        amount: toWireNumber(amount),
        referenceId,
        callbackUrl,
      }),
      factsOf: ({ amount, currency, bankDetails, referenceId }) => ({
        amount,
        currency,
        ourReference: referenceId,
        ...bankFact(bankDetails.bankCode),
      }),
    },
  },
  liveStatus: {
    operation: 'getBankWithdrawal',
    // It may know mobile payouts alone.
    missProvesNothing: true,
    proves: namesPayment,
    read: (record) => ({ status: statusIn(memberOf(record, 'status')), facts: withdrawalFacts(record) }),
  },
  carriesOut: { createBankWithdrawal: asItIs },
  refundedWord: 'REVERSED',
  readEvent: (body) => callbackEvent(body),
  demo: {
    name: 'withdrawal',
    title: 'refused at first (429), and sent again',
    expected: 'completed',
    executes: { createBankWithdrawal: 1 },
    fault: { operation: 'createBankWithdrawal', kind: 'rate-limited', executed: false },
  },
  docs: {
    story: 'create → paid out to a South African account',
    learns: 'as `bank-checkout`; with `SERVICE_PROFILE` `live` by `getBankWithdrawal`, too, from a minute on',
    guaranteed: "another country's bank is refused before anything is sent",
    atDeadline: ['no_settlement', 'unverified_settlement'],
  },
});
