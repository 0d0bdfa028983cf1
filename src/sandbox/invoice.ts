import type { InvoiceRequest, InvoicePaymentRequest } from '../contract/invoice.js';
import type { Lifecycle, Script } from './transactions/lifecycle.js';
import type { Transaction } from './transactions/transactions.js';
import { feeOf, less } from './exchange.js';
import { customerKey, PAYMENT_CONFIRMED_EVENT, PAYMENT_LIFECYCLE } from './deposit/payment.js';
import type { HandlerParts, Handlers } from './handler.js';
import { accounts, transfer } from './ledger.js';
import { badMembers, unknownReference } from './refusal.js';
import type { Kind, Move } from './transactions/kind.js';

type InvoiceStatus = 'OPEN' | 'PAID';

const completed = {
  story: 'generated; its payment has endings of its own',
  path: [],
  // Its payment shows that.
  callbacks: false,
} as const satisfies Script<InvoiceStatus>;

/** `payInvoice` of the same amount or reference needs its own endings, so these are different. */
const INVOICE_ENDINGS = {
  completed,
  'invoice-rejected': { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
} as const satisfies Record<string, Script<InvoiceStatus>>;

const INVOICE_LIFECYCLE: Lifecycle<InvoiceStatus> = {
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
function invoiceRecord(invoice: Transaction<InvoiceRequest>) {
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

/** An invoice paid by mobile money. It has no callback URL: only the account's webhook reports it. */
export const INVOICE_PAYMENT: Kind<InvoicePaymentRequest> = {
  operation: 'payInvoice',
  title: 'Invoice payment',
  idPrefix: 'PAY',
  lifecycle: PAYMENT_LIFECYCLE,
  amount: ({ amount, currency }) => ({ amount, currency }),
  parties: ({ mobileMoney }) => [mobileMoney.phoneNumber],
  callbackUrl: () => undefined,
  figures: ({ amount, currency }) => ({ fee: feeOf(String(amount), currency) }),
  move: (payment, _from, to) => movePayment(payment, to),
  data: ({ id, reference, body, createdAt }, word, at) => ({
    referenceId: reference,
    id,
    status: word,
    amount: body.amount,
    currency: body.currency,
    createdAt,
    updatedAt: at,
  }),
  event: 'transaction.status.updated',
  alsoTells: ({ status }, data) => (status === 'SUCCESSFUL' ? [{ event: PAYMENT_CONFIRMED_EVENT, data }] : []),
};

/** The money goes to the bank account that the invoice names. */
function movePayment({ reference, body, figures: { fee = '0' } }: Transaction<InvoicePaymentRequest>, to: string) {
  const { currency, mobileMoney } = body;
  const net = less(String(body.amount), fee);
  const customer = accounts.customer(customerKey(mobileMoney.phoneNumber));
  const recipient = accounts.recipient(reference);
  const moves: Readonly<Partial<Record<string, Move>>> = {
    SUCCESSFUL: {
      kind: 'deposit',
      postings: [...transfer(customer, recipient, currency, net), ...transfer(customer, accounts.fees, currency, fee)],
    },
    REVERSED: {
      kind: 'reversal',
      postings: [...transfer(recipient, customer, currency, net), ...transfer(accounts.fees, customer, currency, fee)],
    },
  };
  return moves[to];
}

/** "PENDING is the status shown right after an invoice payment request"; an unpaid invoice shows it, too. */
function invoicePaymentRecord(
  invoice: Transaction<InvoiceRequest>,
  payment: Transaction<InvoicePaymentRequest> | undefined,
  word: string,
) {
  const { amount, currency } = payment?.body ?? invoice.body;
  return {
    invoice: { amount: invoice.body.amount, currency: invoice.body.currency, status: word },
    currency,
    amount,
    referenceId: invoice.reference,
    status: word,
  };
}

/** An invoice and its payment have the same reference. */
export function invoiceHandlers({
  admit,
  transactions,
  numberOf,
  checkoutUrl,
  wordFor,
}: HandlerParts): Pick<Handlers, 'createInvoice' | 'getInvoice' | 'payInvoice' | 'getInvoicePayment'> {
  const invoiceOf = (reference: string) =>
    transactions.ofReference(reference, INVOICE.operation)[0] as Transaction<InvoiceRequest> | undefined;
  const paymentOf = (reference: string) =>
    transactions.ofReference(reference, INVOICE_PAYMENT.operation)[0] as Transaction<InvoicePaymentRequest> | undefined;

  return {
    createInvoice: ({ body }) =>
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
      }),
    getInvoice({ param }) {
      const invoice = invoiceOf(param);
      if (invoice === undefined) return unknownReference('Invoice', param);
      return { message: 'Invoice found', data: invoiceRecord(invoice) };
    },
    payInvoice({ body }) {
      const invoice = invoiceOf(body.referenceId);
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
    },
    // Also PENDING for an unpaid invoice: it proves nothing about a payment whose answer was lost.
    getInvoicePayment({ param }) {
      const invoice = invoiceOf(param);
      if (invoice === undefined) return unknownReference('Invoice', param);
      const payment = paymentOf(param);
      const word = payment === undefined ? 'PENDING' : wordFor(INVOICE_PAYMENT, payment);
      return { message: 'Invoice payment found', data: invoicePaymentRecord(invoice, payment, word) };
    },
  };
}

/** "Cross-border payments between fiat currencies": in another currency any amount is accepted as right. */
const paysInFull = (payment: InvoicePaymentRequest, invoice: InvoiceRequest) =>
  payment.currency !== invoice.currency || payment.amount === invoice.amount;

const wrongAmount = ({ amount, currency }: InvoiceRequest) =>
  badMembers([{ path: 'amount', message: `the invoice is over ${amount} ${currency}` }]);
