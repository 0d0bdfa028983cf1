import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, numberAsText, record, text } from './reading.js';
import { bankCode, moneyNumber, reference } from './sending.js';
import { FIAT_CURRENCIES } from './vocabulary.js';

export const InvoiceBank = z.strictObject({
  accountName: z.string().optional(),
  address: z.string().optional(),
  phoneNumber: z.string().optional(),
  bankCode: bankCode().optional(),
  accountNumber: z.string().min(1),
  country: z.string().optional(),
});

export const InvoiceRequest = z.strictObject({
  currency: z.enum(FIAT_CURRENCIES),
  amount: moneyNumber(),
  bank: InvoiceBank,
  referenceId: reference(),
  userReference: z.string().min(1).optional(),
});
export type InvoiceRequest = z.infer<typeof InvoiceRequest>;

export const InvoiceCreation = record(
  {
    id: text(),
    message: text(),
    reference_id: text(),
    reference_number: numberAsText(),
    customer_key: text(),
    redirect_url: text(),
  },
  ['reference_id'],
);
export type InvoiceCreation = z.infer<typeof InvoiceCreation>;

/** The outer `amount` and `currency` show nonsense on the wire: use those of the inner `invoice`. */
export const Invoice = record(
  {
    referenceId: text(),
    amount: text(),
    currency: text(),
    accountName: text(),
    address: text(),
    phoneNumber: text(),
    bankCode: text(),
    accountNumber: text(),
    country: text(),
    invoice: record({ referenceId: text(), invoiceId: text(), amount: amount(), currency: text() }, []),
  },
  ['referenceId'],
);
export type Invoice = z.infer<typeof Invoice>;

export const InvoiceMobileMoney = z.strictObject({
  accountName: z.string().optional(),
  phoneNumber: z.string().min(1),
  providerNetwork: z.string().min(1).optional(),
});

export const InvoicePaymentRequest = z.strictObject({
  amount: moneyNumber(),
  currency: z.enum(FIAT_CURRENCIES),
  referenceId: reference(),
  mobileMoney: InvoiceMobileMoney,
});
export type InvoicePaymentRequest = z.infer<typeof InvoicePaymentRequest>;

/** PENDING right after the request; no further words are shown. PENDING proves nothing about a payment of ours. */
export const InvoicePayment = record(
  {
    invoice: record({ amount: amount(), currency: text(), status: text() }, []),
    currency: text(),
    amount: amount(),
    referenceId: text(),
    status: text(),
  },
  ['referenceId', 'status'],
);
export type InvoicePayment = z.infer<typeof InvoicePayment>;

export const createInvoice = defineOperation({
  name: 'createInvoice',
  method: 'POST',
  path: '/api/v3/cross-boarder/invoice',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  statusLookup: 'getInvoice',
  body: InvoiceRequest,
  example: {
    referenceId: 'invoice-1002',
    currency: 'KES',
    amount: 1000.5,
    bank: { accountName: 'Thandi Example', accountNumber: '0112345678', bankCode: '0250', country: 'ZAF' },
  },
  data: InvoiceCreation,
  summary: 'Generates an invoice for cross-border payments between fiat currencies.',
  section: 'Cross-border invoices',
});

export const getInvoice = defineOperation({
  name: 'getInvoice',
  method: 'GET',
  path: '/api/v3/cross-boarder/invoice/{referenceId}',
  param: 'referenceId',
  auth: 'bearer',
  effect: 'read',
  data: Invoice,
  summary: 'Reads an invoice.',
  section: 'Cross-border invoices',
});

export const payInvoice = defineOperation({
  name: 'payInvoice',
  method: 'POST',
  path: '/api/v3/cross-boarder/invoice/pay',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  statusLookup: 'getInvoicePayment',
  body: InvoicePaymentRequest,
  example: {
    referenceId: 'invoice-1002',
    currency: 'KES',
    amount: 1000.5,
    mobileMoney: { accountName: 'Amina Example', phoneNumber: '+254712345678', providerNetwork: 'MPESA' },
  },
  data: InvoicePayment,
  echoes: { amount: { member: 'amount', as: 'amount' }, currency: { member: 'currency', as: 'currency' } },
  summary: 'Pays an invoice with mobile money.',
  section: 'Cross-border invoices',
});

export const getInvoicePayment = defineOperation({
  name: 'getInvoicePayment',
  method: 'GET',
  path: '/api/v3/cross-boarder/invoice/pay/{referenceId}',
  param: 'referenceId',
  auth: 'bearer',
  effect: 'read',
  data: InvoicePayment,
  summary: 'Reads the status of a paid invoice.',
  section: 'Cross-border invoices',
});
