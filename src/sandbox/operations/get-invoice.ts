import { invoiceRecord } from '../invoice/invoice.js';
import type { Invoices } from '../invoice/invoices.js';
import { unknownReference } from '../refusal.js';
import type { Handler } from './handler.js';

export function createGetInvoice(deps: { invoices: Invoices }): Handler<'getInvoice'> {
  return ({ param }) => {
    const invoice = deps.invoices.invoiceOf(param);
    if (invoice === undefined) return unknownReference('Invoice', param);
    return { message: 'Invoice found', data: invoiceRecord(invoice) };
  };
}
