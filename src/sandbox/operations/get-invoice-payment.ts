import { INVOICE_PAYMENT, invoicePaymentRecord } from '../invoice/invoice-payment.js';
import type { Invoices } from '../invoice/invoices.js';
import { unknownReference } from '../refusal.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

/** PENDING, too, for an invoice that nobody has paid: it proves nothing about a payment whose answer was lost. */
export function createGetInvoicePayment(deps: { wordFor: Words; invoices: Invoices }): Handler<'getInvoicePayment'> {
  const { wordFor, invoices } = deps;
  return ({ param }) => {
    const invoice = invoices.invoiceOf(param);
    if (invoice === undefined) return unknownReference('Invoice', param);
    const payment = invoices.paymentOf(param);
    const word = payment === undefined ? 'PENDING' : wordFor(INVOICE_PAYMENT, payment);
    return { message: 'Invoice payment found', data: invoicePaymentRecord(invoice, payment, word) };
  };
}
