import { z } from 'zod';
import {
  InvoiceBank,
  InvoiceMobileMoney,
  InvoicePaymentRequest,
  InvoiceRequest,
  type Invoice,
  type InvoicePayment,
} from '../contract/invoice.js';
import { FIAT_CURRENCIES } from '../contract/vocabulary.js';
import { checkAmount, sameAmount, toWireNumber } from '../money.js';
import { UNREADABLE } from '../protocol/messages.js';
import { CHECKOUT_WORDS, failsCheckout, leavesUnpaid, provesPayment } from '../protocol/statuses.js';
import { confirmedBy, PAYMENT_CONFIRMED_EVENT } from './bank-checkout.js';
import { callbackEvent, isObject, memberOf } from './callback.js';
import { country, fitsCurrency, callerReference, commonInput, decimalAmount, phoneNumber } from './input.js';
import { saysStatus } from './service-interface.js';
import { defineFlow } from './flow.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { factsIn, recordFact, statusIn } from './record-facts.js';
import { terms } from './terms.js';

/** Only these are said about a payment, and never about an unpaid invoice; an event that cannot be read may say the same. */
const MAY_BE_PAID = [...Object.keys(CHECKOUT_WORDS).filter(provesPayment), UNREADABLE];

const MobileMoney = InvoiceMobileMoney.extend({ phoneNumber: phoneNumber() });

/** Who pays, and how much: without amount and currency, those of the invoice. */
const PaymentOrder = z.strictObject({
  mobileMoney: MobileMoney,
  amount: decimalAmount().optional(),
  currency: z.enum(FIAT_CURRENCIES).optional(),
});
type PaymentOrder = z.infer<typeof PaymentOrder>;

/** Generates the invoice, and pays it at once, or when the update `pay` names the payer. */
const GeneratedInvoice = InvoiceRequest.extend({
  pay: z.literal('generated'),
  referenceId: callerReference(),
  amount: decimalAmount(),
  bank: InvoiceBank.extend({ phoneNumber: phoneNumber().optional(), country: country().optional() }),
  payment: PaymentOrder.optional(),
  ...commonInput,
})
  .superRefine(fitsCurrency('amount', 'currency'))
  .superRefine(checkPayment);

/** Pays an invoice that exists already: the body of the operation. */
const ExistingInvoice = InvoicePaymentRequest.extend({
  pay: z.literal('existing'),
  referenceId: callerReference(),
  amount: decimalAmount(),
  mobileMoney: MobileMoney,
  ...commonInput,
}).superRefine(fitsCurrency('amount', 'currency'));

/** The input shows which of the two it is: only an invoice to be generated names a bank. */
export const InvoicePaymentInput = z.preprocess(
  (raw) => (isObject(raw) && raw['pay'] === undefined ? { ...raw, pay: formOf(raw) } : raw),
  z.discriminatedUnion('pay', [GeneratedInvoice, ExistingInvoice]),
);
export type InvoicePaymentInput = z.infer<typeof InvoicePaymentInput>;

/** As callers write it: the input shows which of the two it is. */
export type InvoicePaymentWritten =
  Written<z.input<typeof GeneratedInvoice>> | Written<z.input<typeof ExistingInvoice>>;
type Written<Form extends { pay: string }> = Omit<Form, 'pay'> & Partial<Pick<Form, 'pay'>>;
export type PaymentOrderWritten = z.input<typeof PaymentOrder>;

/** Part of the fingerprint of every invoice: if it changed, a request repeated after an upgrade would differ. */
const INVOICE_DEADLINE_SECONDS = 7 * 86_400;

export const invoicePaymentFlow = defineFlow({
  kind: 'invoice-payment',
  input: InvoicePaymentInput,
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Invoice payment: ${input.amount} ${input.currency}`,
  moneyOf: (input) => {
    const { amount, currency } = paymentOf(input) ?? input;
    const isOrdered = input.pay === 'generated' && input.payment?.amount !== undefined;
    return { amount, currency, member: isOrdered ? 'payment.amount' : 'amount' };
  },
  termsOf: (input) => {
    const { amount, currency } = paymentOf(input) ?? input;
    const payer = input.pay === 'existing' ? input.mobileMoney : input.payment?.mobileMoney;
    const account = input.pay === 'generated' ? input.bank.accountNumber : undefined;
    return terms({ sends: { amount, currency }, payer: payer?.phoneNumber, recipient: account });
  },
  // There is no callback URL: only the account's webhooks report. `transaction.status.updated` may belong to any kind.
  webhooks: [PAYMENT_CONFIRMED_EVENT],
  submissions: {
    generate: {
      operation: 'createInvoice',
      isGiven: (input) => input.pay === 'generated',
      decidedBy: (input) => invoiceOf(input),
      request: (input) => ({ ...invoiceOf(input), amount: toWireNumber(input.amount), referenceId: input.referenceId }),
      // It moves nothing, and an event may be of a payment of it.
      shownBy: [],
      factsOf: (input) =>
        factsIn({
          amount: input.amount,
          currency: input.currency,
          paidAmount: input.amount,
          paidCurrency: input.currency,
          bankAccount: input.pay === 'generated' ? accountEnd(input.bank.accountNumber) : undefined,
        }),
    },
    pay: {
      operation: 'payInvoice',
      isGiven: (input) => paymentOf(input) !== undefined,
      decidedBy: (input) => requirePayment(input),
      request: (input) => {
        const { amount, currency, mobileMoney } = requirePayment(input);
        return { amount: toWireNumber(amount), currency, mobileMoney, referenceId: input.referenceId };
      },
      shownBy: MAY_BE_PAID,
      byOthersToo: true,
      factsOf: paymentFacts,
    },
  },
  status: {
    operation: 'getInvoicePayment',
    read: (record) => ({ status: paymentWord(record as Partial<InvoicePayment>), facts: paidFacts(record) }),
  },
  carriesOut: {
    // It waits until `payInvoice` comes with the same reference.
    createInvoice: (body) => ({ ...body, pay: 'generated', deadlineSeconds: INVOICE_DEADLINE_SECONDS }),
    payInvoice: (body) => ({ ...body, pay: 'existing' }),
  },
  reads: {
    getInvoicePayment: {
      words: CHECKOUT_WORDS,
      recordOf: 'payInvoice',
      said: saysStatus('referenceId', { completed: 'SUCCESSFUL', refunded: 'REVERSED' }),
    },
    // An invoice has no status, and only the service knows its content.
    getInvoice: { words: {}, said: () => undefined },
  },
  readEvent: (body) => callbackEvent(body, (fields, event) => fields.status ?? confirmedBy(event)),
  demo: {
    name: 'invoice',
    title: 'an invoice is generated, read and paid in one flow',
    expected: 'completed',
    executes: { createInvoice: 1, payInvoice: 1 },
  },
  docs: {
    story: 'generate → read → pay at once, or at the update `pay` → confirm; or only pay',
    learns: '`getInvoicePayment`, from 30 s on, or at once when a webhook hints',
    guaranteed:
      'one invoice, one payment of ours, and none if the service already shows one; an unpaid invoice expires with nothing moved',
    atDeadline: ['no_settlement'],
  },
});

/**
 * The invoice's facts, as its record shows them: whom it pays, too. A service that knew the reference may return an
 * invoice of another request.
 */
export function invoiceFacts(record: unknown): Readonly<Record<string, string>> {
  const { invoice } = record as Invoice;
  return factsIn({
    // The outer amount and currency show nonsense on the wire.
    amount: recordFact(invoice, 'amount', readAmount),
    currency: recordFact(invoice, 'currency', readCode),
    bankAccount: accountEnd(recordFact(record, 'accountNumber', asText)),
  });
}

/**
 * Its last four characters (or three, if it has no more) distinguish two accounts, and do not show them to everybody who
 * may see the flow. Case, spaces and dashes do not count. Undefined if they are masked, or are a word in its place.
 */
function accountEnd(accountNumber: string | undefined): string | undefined {
  if (accountNumber === undefined || accountNumber === UNREADABLE) return accountNumber;
  const end = accountNumber.replaceAll(/[\s-]/g, '').slice(-4).toUpperCase();
  return /^[0-9A-WYZ]{3,4}$/.test(end) && /\d/.test(end) ? `…${end}` : undefined;
}

/**
 * The status of the invoice's payment. A failed attempt beside an invoice whose own status says otherwise, or cannot be
 * read, gets a word of no table: it is shown, and decides nothing.
 */
function paymentWord(record: Partial<InvoicePayment>): string | null {
  // The record of the invoice itself has none.
  const word = statusIn(record.status);
  const beside = wordBeside(record);
  return failsCheckout(word) && beside !== undefined ? `${word}_BESIDE_${beside}` : word;
}

/** The invoice's own status, if it says more than that it is unpaid; `UNREADABLE` if it may say anything. */
export function wordBeside(record: Partial<InvoicePayment>): string | undefined {
  const word = record.invoice
    ? recordFact(record.invoice, 'status', readCode)
    : recordFact(record, 'invoice', readCode);
  return word === undefined || leavesUnpaid(word) || failsCheckout(word) ? undefined : word;
}

/** Whether it is the record of a payment that has begun: it exists before any, with the status PENDING. */
export const isOfPayment = (record: unknown): boolean => provesPayment(statusIn(memberOf(record, 'status')));

/** The payment's facts, as the record shows them. Before a payment, the record's amounts are those of the invoice. */
export function paidFacts(record: unknown): Readonly<Record<string, string>> {
  if (!isOfPayment(record)) return {};
  return factsIn({
    paidAmount: recordFact(record, 'amount', readAmount),
    paidCurrency: recordFact(record, 'currency', readCode),
  });
}

/** Digits that a JSON number keeps, too. */
const asText = (said: unknown) => (typeof said === 'string' || typeof said === 'number' ? String(said) : undefined);

const formOf = (raw: Record<string, unknown>) =>
  'mobileMoney' in raw && !('bank' in raw) ? ('existing' as const) : ('generated' as const);

function checkPayment(
  { amount, currency, payment }: { amount: string; currency: string; payment?: PaymentOrder | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (payment === undefined) return;
  const paidIn = payment.currency ?? currency;
  if (payment.amount === undefined && paidIn !== currency) {
    const message = 'must be given if the currency is not that of the invoice';
    return context.addIssue({ code: 'custom', path: ['payment', 'amount'], message });
  }
  const problem = checkAmount(payment.amount ?? amount, paidIn);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['payment', 'amount'], message: problem });
}

function invoiceOf(input: InvoicePaymentInput) {
  if (input.pay === 'existing') throw new TypeError('this flow generates no invoice');
  const { currency, amount, bank, userReference } = input;
  return { currency, amount, bank, ...(userReference === undefined ? {} : { userReference }) };
}

function paymentOf(input: InvoicePaymentInput) {
  const { amount, currency } = input;
  if (input.pay === 'existing') return { amount, currency, mobileMoney: input.mobileMoney };
  if (input.payment === undefined) return undefined;
  const { payment } = input;
  return {
    amount: payment.amount ?? amount,
    currency: payment.currency ?? currency,
    mobileMoney: payment.mobileMoney,
  };
}

function requirePayment(input: InvoicePaymentInput) {
  const payment = paymentOf(input);
  if (payment === undefined) throw new TypeError('this flow has no payment order yet');
  return payment;
}

/**
 * Looked-up records show what was paid. Events report either that or the invoice, under the same names: they are
 * compared only if both are known to be the same.
 */
function paymentFacts(input: InvoicePaymentInput): Readonly<Record<string, string>> {
  const { amount, currency } = requirePayment(input);
  const paid = { paidAmount: amount, paidCurrency: currency };
  const inFull = input.pay === 'generated' && currency === input.currency && sameAmount(amount, input.amount);
  return inFull ? { ...paid, amount, currency } : paid;
}
