import type { InvoicePaymentRequest, InvoiceRequest } from '../../contract/invoice.js';
import { customerKey } from '../deposit/payment.js';
import { INVOICE, invoiceRecord, type Invoices, INVOICE_PAYMENT, invoicePaymentRecord } from '../invoice.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers } from '../transactions/transactions.js';
import { unknownReference, badMembers } from '../refusal.js';
import type { Handler } from './handler.js';
import type { StatusWord } from '../transactions/tools.js';

export function createCreateInvoice(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createInvoice'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return ({ body }) =>
    admit(INVOICE, {
      body,
      reference: body.referenceId,
      answer: (invoice) => ({
        message: 'Invoice created',
        data: {
          id: invoice.id,
          message: 'The invoice can be paid',
          reference_id: invoice.reference,
          reference_number: numberOf(invoice),
          customer_key: customerKey(body.userReference ?? body.bank.accountNumber),
          redirect_url: checkoutUrl(invoice.id),
        },
      }),
    });
}

export function createGetInvoice(deps: { invoices: Invoices }): Handler<'getInvoice'> {
  return ({ param }) => {
    const invoice = deps.invoices.invoiceOf(param);
    if (invoice === undefined) return unknownReference('Invoice', param);
    return { message: 'Invoice found', data: invoiceRecord(invoice) };
  };
}

export function createPayInvoice(deps: {
  admit: Admit;
  wordFor: StatusWord;
  invoices: Invoices;
}): Handler<'payInvoice'> {
  const { admit, wordFor, invoices } = deps;
  return ({ body }) => {
    const invoice = invoices.invoiceOf(body.referenceId);
    if (invoice === undefined) return unknownReference('Invoice', body.referenceId);
    return admit(INVOICE_PAYMENT, {
      body,
      reference: body.referenceId,
      refusal: () => (paysInFull(body, invoice.body) ? undefined : wrongAmount(invoice.body)),
      answer: (payment) => ({
        message: 'Invoice payment created',
        data: invoicePaymentRecord(invoice, payment, wordFor(INVOICE_PAYMENT, payment)),
      }),
    });
  };
}

/** "Cross-border payments between fiat currencies": in another currency any amount is accepted as right. */
const paysInFull = (payment: InvoicePaymentRequest, invoice: InvoiceRequest) =>
  payment.currency !== invoice.currency || payment.amount === invoice.amount;

const wrongAmount = ({ amount, currency }: InvoiceRequest) =>
  badMembers([{ path: 'amount', message: `the invoice is over ${amount} ${currency}` }]);

/** Also PENDING for an unpaid invoice: it proves nothing about a payment whose answer was lost. */
export function createGetInvoicePayment(deps: {
  wordFor: StatusWord;
  invoices: Invoices;
}): Handler<'getInvoicePayment'> {
  const { wordFor, invoices } = deps;
  return ({ param }) => {
    const invoice = invoices.invoiceOf(param);
    if (invoice === undefined) return unknownReference('Invoice', param);
    const payment = invoices.paymentOf(param);
    const word = payment === undefined ? 'PENDING' : wordFor(INVOICE_PAYMENT, payment);
    return { message: 'Invoice payment found', data: invoicePaymentRecord(invoice, payment, word) };
  };
}
