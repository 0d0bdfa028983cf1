import { z } from 'zod';
import { CardDepositRequest } from '../contract/deposit.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { toWireNumber } from '../money.js';
import { PAYMENT_CONFIRMED_EVENT } from './bank-checkout.js';
import { callbackEvent, memberOf } from './callback.js';
import { cardToken, maskedCard } from './capability.js';
import { country, fitsCurrency, callerReference, commonInput, decimalAmount, phoneNumber } from './input.js';
import { factsIn, namesPayment, recordFact, statusIn } from './record-facts.js';
import { asItIs, DEPOSIT_READS } from './service-interface.js';
import { defineFlow } from './flow.js';
import { terms } from './terms.js';

/**
 * Input of a `card-deposit`: the body of the operation, with the token of a card in the card's place. Input is part of
 * the history, where card data must never be, encrypted or not.
 */
export const CardDepositInput = CardDepositRequest.omit({ card: true })
  .extend({
    referenceId: callerReference(),
    amount: decimalAmount(),
    phoneNumber: phoneNumber(),
    country: country().optional(),
    cardToken: cardToken(),
    masked: maskedCard().optional(),
    card: z.never('must never be in the input of a flow: give it to POST /card-tokens, and its token here').optional(),
    ...commonInput,
  })
  .superRefine(fitsCurrency('amount', 'currency'));
export type CardDepositInput = z.infer<typeof CardDepositInput>;

/** The facts that identify a looked-up card deposit. */
export const cardFacts = (record: unknown): Readonly<Record<string, string>> =>
  factsIn({
    amount: recordFact(record, 'amount', readAmount),
    currency: recordFact(record, 'currency', readCode),
  });

export const cardDepositFlow = defineFlow({
  kind: 'card-deposit',
  input: CardDepositInput,
  referenceMember: 'referenceId',
  // A caller who repeats a request has a new token for the same card.
  decidedBy: ({ cardToken: _token, masked: _masked, callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Card deposit: ${input.amount} ${input.currency}`,
  moneyOf: ({ amount, currency }) => ({ amount, currency, member: 'amount' }),
  termsOf: ({ amount, currency, masked, phoneNumber: phone }) =>
    terms({ sends: { amount, currency }, payer: masked ?? phone }),
  webhooks: ['transaction.deposit.status.updated', PAYMENT_CONFIRMED_EVENT],
  submissions: {
    deposit: {
      operation: 'createCardDeposit',
      decidedBy: ({ fullName, phoneNumber: phone, currency, amount, country: where }) => ({
        fullName,
        phoneNumber: phone,
        currency,
        amount,
        country: where,
      }),
      /** Without the card, which the gateway that keeps it adds: the client would refuse this body as it is. */
      request: ({ fullName, phoneNumber: phone, currency, amount, country: where, ...input }, { callbackUrl }) => ({
        fullName,
        phoneNumber: phone,
        currency,
        amount: toWireNumber(amount),
        ...(where === undefined ? {} : { country: where }),
        referenceId: input.referenceId,
        callbackUrl,
        ...(input.customerRedirectUrl === undefined ? {} : { customerRedirectUrl: input.customerRedirectUrl }),
      }),
      factsOf: ({ amount, currency }) => ({ amount, currency }),
    },
  },
  liveStatus: {
    operation: 'getCardDeposit',
    // That it knows all of them is not documented.
    missProvesNothing: true,
    proves: namesPayment,
    read: (record) => ({ status: statusIn(memberOf(record, 'status')), facts: cardFacts(record) }),
  },
  carriesOut: { createCardDeposit: asItIs },
  reads: DEPOSIT_READS,
  refundedWord: 'REVERSED',
  readEvent: (body) =>
    callbackEvent(body, ({ status }, event) => status ?? (event === PAYMENT_CONFIRMED_EVENT ? 'CONFIRMED' : null)),
  demo: {
    name: 'card',
    title: 'a card is charged whose number only the memory of the gateway holds',
    expected: 'completed',
    executes: { createCardDeposit: 1 },
    hides: /4111\D?1111\D?1111\D?1111/,
  },
  docs: {
    story: "the card becomes a token → sent from the gateway's memory → 3-D Secure → paid",
    learns: 'as `bank-checkout`; with `SERVICE_PROFILE` `live` by `getCardDeposit`, too, from a minute on',
    guaranteed: 'card data is in no history, log or store; `card_details_expired` means that nothing was charged',
    atDeadline: ['no_settlement', 'unverified_settlement'],
  },
});
