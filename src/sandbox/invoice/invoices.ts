import type { InvoicePaymentRequest, InvoiceRequest } from '../../contract/invoice.js';
import type { Transaction } from '../transactions/transaction.js';
import type { Transactions } from '../transactions/transactions.js';
import { INVOICE } from './invoice.js';
import { INVOICE_PAYMENT } from './invoice-payment.js';

/** An invoice and its payment have the same reference. */
export interface Invoices {
  invoiceOf(reference: string): Transaction<InvoiceRequest> | undefined;
  paymentOf(reference: string): Transaction<InvoicePaymentRequest> | undefined;
}

export const createInvoices = (transactions: Transactions): Invoices => ({
  invoiceOf: (reference) =>
    transactions.ofReference(reference, INVOICE.operation)[0] as Transaction<InvoiceRequest> | undefined,
  paymentOf: (reference) =>
    transactions.ofReference(reference, INVOICE_PAYMENT.operation)[0] as Transaction<InvoicePaymentRequest> | undefined,
});
