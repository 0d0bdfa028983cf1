import type { InvoicePaymentRequest, InvoiceRequest } from '../../contract/invoice.js';
import { feeOf, less } from '../currency.js';
import { customerKey, PAYMENT_CONFIRMED_EVENT } from '../deposit/payment.js';
import { PAYMENT_LIFECYCLE } from '../deposit/payment-lifecycle.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind, Move } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';

/** An invoice paid by mobile money. It has no callback URL: only the account's webhook hears of it. */
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

/** The money goes on to the bank account that the invoice names. */
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

/** "PENDING is the status shown right after an invoice payment request"; an invoice that nobody pays shows it, too. */
export function invoicePaymentRecord(
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
