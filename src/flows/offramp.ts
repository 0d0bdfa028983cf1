import type { z } from 'zod';
import { OfframpBankReceiver, OfframpMobileMoneyReceiver, OfframpRequest } from '../contract/offramp.js';
import { toWireNumber } from '../money.js';
import {
  OFFRAMP_WORDS,
  CRYPTO_NOT_RECEIVED,
  classifyStatus,
  PAYMENT_WORDS,
  REFUND_INVOICE_NEEDED,
} from '../protocol/statuses.js';
import {
  country,
  fitsCurrency,
  callerReference,
  commonInput,
  decimalAmount,
  contactNumber,
  phoneNumber,
} from './input.js';
import { asItIs, saysStatus } from './service-interface.js';
import { defineFlow, type EventReading } from './flow.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { plainAddress, readAddress, readHash } from '../readers/hash.js';
import { factsIn, recordFact, statusIn } from './record-facts.js';
import { amountFact, callbackEvent, memberOf, type CallbackFields } from './callback.js';
import { terms } from './terms.js';

/**
 * A refund follows FAILED, unless nothing shows that any crypto came in: then there is nothing to refund. A transaction
 * or an amount that cannot be read may be crypto that came in.
 */
function offrampStatus(record: unknown): string | null {
  const [status, onchain] = [statusIn(memberOf(record, 'status')), statusIn(memberOf(record, 'onchainStatus'))];
  const isFailed = status === 'FAILED' && classifyStatus(PAYMENT_WORDS, onchain) === 'failed';
  const came = recordFact(record, 'transactionHashAmount', readAmount) ?? '0';
  const noneCame = recordFact(record, 'transactionHash', readHash) === undefined && came === '0';
  return isFailed && noneCame ? CRYPTO_NOT_RECEIVED : status;
}

/** The facts that identify an offramp. The record does not show the receiver of the fiat. */
export function offrampFacts(record: unknown): Readonly<Record<string, string>> {
  return factsIn({
    cryptoAmount: recordFact(record, 'cryptoAmount', readAmount),
    fiatCurrency: recordFact(record, 'fiatCurrency', readCode),
    senderAddress: recordFact(record, 'senderAddress', readAddress),
  });
}

/** Events whose name says more than their status; the last two are seen on the wire and are not in the interface. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  'refund.lightning.invoice_needed': REFUND_INVOICE_NEEDED,
  'refund.completed': 'REFUNDED',
  'refund.failed': 'REFUND_FAILED',
};

/** Events of an offramp's refund, which the status of the offramp does not show. */
const REFUND_EVENTS: readonly string[] = Object.keys(EVENT_WORDS);

/** Events of an offramp: a status word, and the facts to compare. The lookup decides in any case. */
function offrampEvent(body: unknown): EventReading | undefined {
  return callbackEvent(
    body,
    (fields, event) => EVENT_WORDS[event ?? ''] ?? offrampStatus(fields),
    (fields, event) => (event?.startsWith('refund.') ? refundFacts(fields) : offrampFacts(orNull(fields))),
  );
}

/** Of an event's fields, those that are undefined have no value. */
const orNull = (fields: CallbackFields) => ({
  ...fields,
  cryptoAmount: fields.cryptoAmount ?? null,
  fiatCurrency: fields.fiatCurrency ?? null,
});

/** The amounts of an event about a refund are the refund's: less than what came in, if fees are deducted. */
function refundFacts(fields: CallbackFields): EventReading['facts'] {
  const facts: Record<string, string> = {};
  const add = (fact: string, ...values: readonly unknown[]) => {
    const amount = values.map(amountFact).find((value) => value !== undefined);
    if (amount !== undefined) facts[fact] = amount;
  };
  add('refundAmountMsat', fields['refund_amount_msat'], fields['amount_msat']);
  add('refundCryptoAmount', fields['refund_crypto_amount'], fields.crypto_amount, fields.cryptoAmount);
  return facts;
}

/**
 * Input of an `offramp`: the body of the operation, the amount as a decimal string or number. Which receiver must be
 * given is not shown: either, both or neither is sent (`docs/assumptions.md`).
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

export const offrampFlow = defineFlow({
  kind: 'offramp',
  input: OfframpInput,
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, rateId: _rate, ...decided }) => decided,
  summaryOf: (input) => `Offramp: ${input.cryptoAmount} ${input.token} on ${input.chain} → ${input.currency}`,
  moneyOf: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token, member: 'cryptoAmount' }),
  termsOf: (input) =>
    terms({
      sends: { amount: input.cryptoAmount, currency: input.token },
      receives: { amount: null, currency: input.currency },
      payer: input.senderAddress,
      recipient: input.mobileMoneyReceiver?.phoneNumber ?? input.bankReceiver?.accountNumber,
      network: input.chain,
    }),
  submissions: {
    create: {
      operation: 'createOfframp',
      decidedBy: (input) => {
        const { rateId: _rate, ...decided } = bodyOf(input);
        return decided;
      },
      request: (input, { callbackUrl }) => ({
        ...bodyOf(input),
        cryptoAmount: toWireNumber(input.cryptoAmount),
        callbackUrl,
      }),
      // The record does not show the receiver; it shows the sender only if that is not the integrator's own wallet.
      factsOf: ({ cryptoAmount, currency, senderAddress }) => ({
        cryptoAmount,
        fiatCurrency: currency,
        ...(senderAddress === undefined ? {} : { senderAddress: plainAddress(senderAddress) }),
      }),
    },
  },
  status: {
    operation: 'getOfframp',
    read: (record) => ({ status: offrampStatus(record), facts: offrampFacts(record) }),
  },
  webhooks: ['transaction.offramp.status.updated', ...REFUND_EVENTS],
  carriesOut: { createOfframp: asItIs },
  reads: {
    getOfframp: {
      words: OFFRAMP_WORDS,
      recordOf: 'createOfframp',
      said: saysStatus('referenceId', { completed: 'SUCCESS', refunded: 'REFUNDED' }),
    },
  },
  readEvent: offrampEvent,
  demo: {
    name: 'offramp',
    title: 'the payout fails, and the service gives the crypto back',
    expected: 'refunded',
    executes: { createOfframp: 1 },
    ending: 'failed-then-refunded',
  },
  docs: {
    story: 'create → crypto in → fiat out, or its refund',
    learns: '`getOfframp`, from 30 s on, or at once when an event hints',
    guaranteed: 'FAILED is not the end: the flow waits for the refund; a Lightning invoice for it is checked',
    atDeadline: ['refund_pending', 'no_settlement'],
    parks: '`refund_failed`, `refund_invoice_needed`',
  },
});

/** The body of the operation without the callback URL, which is ours. */
function bodyOf({ callbackUrl: _url, deadlineSeconds: _deadline, timeScale: _scale, ...body }: OfframpInput) {
  return body;
}
