import { feeOf, less } from '../currency.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind, Move } from '../transactions/kind.js';
import { PAYMENT_LIFECYCLE, paymentError } from './payment-lifecycle.js';

/** Who pays how much, and where the integrator wants to hear of it. */
export interface Payment {
  readonly phoneNumber: string;
  readonly amount: number;
  readonly currency: string;
  readonly callbackUrl?: string | undefined;
}

export const DEPOSIT_EVENT = 'transaction.deposit.status.updated';
export const PAYMENT_CONFIRMED_EVENT = 'payment.confirmed';

/** The integrator's own wallet: requests name none, or one of its parts. */
export const WALLET = accounts.wallet('integrator');

/** What is alike for every way in which a customer pays into the integrator's wallet. */
export const paymentKind = {
  lifecycle: PAYMENT_LIFECYCLE,
  amount: ({ amount, currency }: Payment) => ({ amount, currency }),
  parties: ({ phoneNumber }: Payment): readonly (string | undefined)[] => [phoneNumber],
  callbackUrl: ({ callbackUrl }: Payment) => callbackUrl,
  figures: ({ amount, currency }: Payment) => ({ fee: feeOf(String(amount), currency) }),
  move: ({ body, figures }, _from, to) => movePayment(body, figures['fee'] ?? '0', to),
  data: ({ id, number, reference, status, body, createdAt }, word, at) => ({
    id,
    reference_id: reference,
    reference_number: number,
    status: word,
    amount: body.amount,
    currency: body.currency,
    customer_key: customerKey(body.phoneNumber),
    created_at: createdAt,
    updated_at: at,
    error_code: paymentError(status)?.code,
    error_description: paymentError(status)?.description,
  }),
  event: DEPOSIT_EVENT,
  alsoTells: ({ status }, data) => (status === 'SUCCESSFUL' ? [{ event: PAYMENT_CONFIRMED_EVENT, data }] : []),
} as const satisfies Omit<Kind<Payment>, 'operation' | 'title' | 'idPrefix'>;

/** The same phone is the same customer. */
export const customerKey = (phoneNumber: string) => `customer-${phoneNumber.replaceAll(/\D/g, '')}`;

function movePayment({ phoneNumber, amount, currency }: Payment, fee: string, to: string): Move | undefined {
  const customer = accounts.customer(customerKey(phoneNumber));
  const net = less(String(amount), fee);
  switch (to) {
    case 'SUCCESSFUL':
      return {
        kind: 'deposit',
        postings: [...transfer(customer, WALLET, currency, net), ...transfer(customer, accounts.fees, currency, fee)],
      };
    case 'REVERSED':
      return {
        kind: 'reversal',
        postings: [...transfer(WALLET, customer, currency, net), ...transfer(accounts.fees, customer, currency, fee)],
      };
    default:
      return undefined;
  }
}
