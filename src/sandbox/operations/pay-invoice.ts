import type { InvoicePaymentRequest, InvoiceRequest } from '../../contract/invoice.js';
import { INVOICE_PAYMENT, invoicePaymentRecord } from '../invoice/invoice-payment.js';
import type { Invoices } from '../invoice/invoices.js';
import { badMembers, unknownReference } from '../refusal.js';
import type { Admit } from '../transactions/admit.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

export function createPayInvoice(deps: { admit: Admit; wordFor: Words; invoices: Invoices }): Handler<'payInvoice'> {
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

/** "Cross-border payments between fiat currencies": in another currency, whatever amount is taken to be right. */
const paysInFull = (payment: InvoicePaymentRequest, invoice: InvoiceRequest) =>
  payment.currency !== invoice.currency || payment.amount === invoice.amount;

const wrongAmount = ({ amount, currency }: InvoiceRequest) =>
  badMembers([{ path: 'amount', message: `the invoice is over ${amount} ${currency}` }]);
