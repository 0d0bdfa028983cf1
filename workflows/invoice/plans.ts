import { CHECKOUT_WORDS, tellsOfPayment } from '../../src/flows/meanings.js';
import type { PaymentPlan } from '../payment/payment.js';
import { INVOICE_PAYMENT_FIRST_LOOK_MS } from '../steps/policies.js';

/** Both POSTs of an invoice have the same reference, and different operations: each has its own claim. */
export const GENERATE: PaymentPlan = {
  step: 'generate',
  noun: 'the invoice',
  words: CHECKOUT_WORDS,
  hasLookup: true,
  firstLookMs: 0,
};

export const PAY: PaymentPlan = {
  step: 'pay',
  noun: 'the payment',
  words: CHECKOUT_WORDS,
  hasLookup: true,
  firstLookMs: INVOICE_PAYMENT_FIRST_LOOK_MS,
  // PENDING of an invoice that existed before says nothing of a payment.
  proves: tellsOfPayment,
};
