import type { InvoiceRequest } from '../../contract/invoice.js';
import type { Kind } from '../transactions/kind.js';
import type { Lifecycle, Script } from '../transactions/lifecycle.js';
import type { Transaction } from '../transactions/transaction.js';

export type InvoiceStatus = 'OPEN' | 'PAID';

const completed = {
  story: 'generated; its payment has endings of its own',
  path: [],
  // Its payment tells.
  callbacks: false,
} as const satisfies Script<InvoiceStatus>;

/** `payInvoice` of the same amount or reference is to meet its own endings, so these have others. */
export const INVOICE_ENDINGS = {
  completed,
  'invoice-rejected': { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
} as const satisfies Record<string, Script<InvoiceStatus>>;

export const INVOICE_LIFECYCLE: Lifecycle<InvoiceStatus> = {
  initial: 'OPEN',
  moves: { OPEN: ['PAID'], PAID: [] },
  endings: INVOICE_ENDINGS,
  magic: { '.31': 'invoice-rejected' },
  words: { interface: {}, live: {} },
};

/** A demand for money; nothing moves until it is paid. */
export const INVOICE: Kind<InvoiceRequest> = {
  operation: 'createInvoice',
  title: 'Invoice',
  idPrefix: 'INV',
  lifecycle: INVOICE_LIFECYCLE,
  amount: ({ amount, currency }) => ({ amount, currency }),
  parties: ({ bank }) => [bank.phoneNumber, bank.accountNumber],
  callbackUrl: () => undefined,
  figures: () => ({}),
  move: () => undefined,
  data: (invoice, word) => ({ referenceId: invoice.reference, id: invoice.id, status: word, ...amountOf(invoice) }),
  event: 'transaction.status.updated',
  alsoTells: () => [],
};

const amountOf = ({ body: { amount, currency } }: Transaction<InvoiceRequest>) => ({ amount, currency });

/** "Shown as strings in the retrieval result (the shown values do not match their names)": the inner ones are right. */
export function invoiceRecord(invoice: Transaction<InvoiceRequest>) {
  const { id, reference, body } = invoice;
  const { bank, amount, currency } = body;
  return {
    referenceId: reference,
    amount: currency,
    currency: String(bank.bankCode ?? amount),
    accountName: bank.accountName,
    address: bank.address,
    phoneNumber: bank.phoneNumber,
    bankCode: bank.bankCode === undefined ? undefined : String(bank.bankCode),
    accountNumber: bank.accountNumber,
    country: bank.country,
    invoice: { referenceId: reference, invoiceId: id, amount, currency },
  };
}
