import { feeOf, less } from '../exchange.js';
import { accounts, transfer } from '../ledger.js';
import type { Lifecycle, Script } from '../transactions/lifecycle.js';
import type { Kind, Move } from '../transactions/kind.js';

/** A customer's payment: by mobile money, by card, at a bank checkout, of an invoice. */
export type PaymentStatus =
  | 'INITIATED'
  | 'PENDING'
  | 'REQUIRE_REVIEW'
  | 'SUCCESSFUL'
  | 'FAILED'
  | 'CANCELLED'
  | 'DECLINED'
  | 'EXPIRED'
  | 'REVERSED';

const completed = {
  story: 'the customer pays',
  path: ['PENDING', 'SUCCESSFUL'],
} as const satisfies Script<PaymentStatus>;

const PAYMENT_ENDINGS = {
  completed,
  failed: { story: 'the payment fails', path: ['PENDING', 'FAILED'] },
  cancelled: { story: 'the customer cancels', path: ['PENDING', 'CANCELLED'] },
  'no-callbacks-ever': { ...completed, story: 'the customer pays, with no callback', callbacks: false },
  never: { story: 'the customer never does anything: pending for ever', path: ['PENDING'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  reversed: { story: 'paid, and one step later reversed', path: ['PENDING', 'SUCCESSFUL', 'REVERSED'] },
  expired: { story: 'the customer does not pay in time', path: ['PENDING', 'EXPIRED'] },
  'success-after-timeout': {
    ...completed,
    story: 'pending for `lateMs`, long after every deadline; then paid',
    pace: 'late',
  },
  review: { story: 'held for a review that never ends', path: ['PENDING', 'REQUIRE_REVIEW'] },
  declined: { story: 'the bank or network declines', path: ['PENDING', 'DECLINED'] },
  'expired-then-paid': {
    story: 'a contradiction: expired, and one step later paid after all',
    path: ['PENDING', 'EXPIRED', 'SUCCESSFUL'],
  },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<PaymentStatus>>;

/** "Transitions: not shown": the three words of DepositStatus, or those of the live service. */
export const PAYMENT_LIFECYCLE: Lifecycle<PaymentStatus> = {
  initial: 'INITIATED',
  moves: {
    INITIATED: ['PENDING', 'FAILED', 'CANCELLED', 'DECLINED', 'EXPIRED'],
    PENDING: ['REQUIRE_REVIEW', 'SUCCESSFUL', 'FAILED', 'CANCELLED', 'DECLINED', 'EXPIRED'],
    REQUIRE_REVIEW: ['SUCCESSFUL', 'FAILED'],
    SUCCESSFUL: ['REVERSED'],
    EXPIRED: ['SUCCESSFUL'],
    FAILED: [],
    CANCELLED: [],
    DECLINED: [],
    REVERSED: [],
  },
  endings: PAYMENT_ENDINGS,
  magic: {
    '.13': 'failed',
    '.15': 'cancelled',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.19': 'slow',
    '.21': 'reversed',
    '.23': 'expired',
    '.24': 'success-after-timeout',
    '.25': 'review',
    '.28': 'declined',
    '.29': 'expired-then-paid',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  words: {
    interface: {
      INITIATED: 'PENDING',
      REQUIRE_REVIEW: 'PENDING',
      CANCELLED: 'FAILED',
      DECLINED: 'FAILED',
      EXPIRED: 'FAILED',
      REVERSED: 'FAILED',
    },
    live: {},
  },
};

/** `error_code` and `error_description` of a failed payment; undefined if it did not fail. */
export function paymentError(status: string): { readonly code: string; readonly description: string } | undefined {
  const description = DESCRIPTIONS[status];
  return description === undefined ? undefined : { code: status, description };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  FAILED: 'The payment failed',
  CANCELLED: 'The customer cancelled the payment',
  DECLINED: 'The payment was declined',
  EXPIRED: 'The customer did not pay in time',
  REVERSED: 'The payment was reversed',
};

/** Who pays how much, and the callback URL of the integrator. */
interface Payment {
  readonly phoneNumber: string;
  readonly amount: number;
  readonly currency: string;
  readonly callbackUrl?: string | undefined;
}

const DEPOSIT_EVENT = 'transaction.deposit.status.updated';
export const PAYMENT_CONFIRMED_EVENT = 'payment.confirmed';

/** The integrator's own wallet: requests name none, or one of its parts. */
export const WALLET = accounts.wallet('integrator');

/** The common part of all ways in which a customer pays into the integrator's wallet. */
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
