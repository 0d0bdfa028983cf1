import { createHash } from 'node:crypto';
import { OnrampRequest } from '../contract/onramp.js';
import { figures } from './bridge/quotes.js';
import { feeOf, less } from './exchange.js';
import type { FiatLeg } from './deposit/methods.js';
import { customerKey, PAYMENT_CONFIRMED_EVENT, type PaymentStatus } from './deposit/payment.js';
import type { HandlerParts, Handlers } from './handler.js';
import { accounts, transfer } from './ledger.js';
import type { Transaction, Transactions } from './transactions/transactions.js';
import type { Lifecycle, Script } from './transactions/lifecycle.js';
import type { Kind, Move, Notice } from './transactions/kind.js';

/** The fiat leg comes first; from CRYPTO_PENDING on it is paid, and the crypto leg decides. */
export type OnrampStatus =
  | 'INITIATED'
  | 'PENDING'
  | 'REQUIRE_REVIEW'
  | 'CRYPTO_PENDING'
  | 'PROCESSING'
  | 'SUCCESS'
  | 'FIAT_FAILED'
  | 'FIAT_CANCELLED'
  | 'FIAT_DECLINED'
  | 'FIAT_EXPIRED'
  | 'CRYPTO_FAILED';

const completed = {
  story: 'the customer pays, the crypto arrives',
  path: ['PENDING', 'CRYPTO_PENDING', 'PROCESSING', 'SUCCESS'],
} as const satisfies Script<OnrampStatus>;

const ONRAMP_ENDINGS = {
  completed,
  failed: { story: 'the payment fails', path: ['PENDING', 'FIAT_FAILED'] },
  cancelled: { story: 'the customer cancels the payment', path: ['PENDING', 'FIAT_CANCELLED'] },
  'no-callbacks-ever': { ...completed, story: 'as completed, with no callback', callbacks: false },
  never: { story: 'the customer never pays: pending for ever', path: ['PENDING'] },
  slow: { ...completed, story: 'as completed, every step `slowFactor` times as long', pace: 'slow' },
  expired: { story: 'the customer does not pay in time', path: ['PENDING', 'FIAT_EXPIRED'] },
  'success-after-timeout': { ...completed, story: 'paid at once; the crypto arrives `lateMs` later', pace: 'late' },
  review: { story: 'held for a review that never ends', path: ['PENDING', 'REQUIRE_REVIEW'] },
  'crypto-failed': {
    story: 'paid, then the transaction fails on the chain; the customer gets the fiat back',
    path: ['PENDING', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_FAILED'],
  },
  'crypto-never': {
    story: 'paid, and the crypto is pending for ever',
    path: ['PENDING', 'CRYPTO_PENDING'],
  },
  declined: { story: 'the bank or network declines', path: ['PENDING', 'FIAT_DECLINED'] },
  rejected: { ...completed, story: 'refused with 400 TRANSACTION_FAILED', refuses: 'transaction-failed' },
  'insufficient-funds': { ...completed, story: 'refused with 400 "Insufficient Funds"', refuses: 'insufficient-funds' },
} as const satisfies Record<string, Script<OnrampStatus>>;

const ONRAMP_LIFECYCLE: Lifecycle<OnrampStatus> = {
  initial: 'INITIATED',
  moves: {
    INITIATED: ['PENDING', 'FIAT_FAILED', 'FIAT_CANCELLED', 'FIAT_DECLINED', 'FIAT_EXPIRED'],
    PENDING: ['REQUIRE_REVIEW', 'CRYPTO_PENDING', 'FIAT_FAILED', 'FIAT_CANCELLED', 'FIAT_DECLINED', 'FIAT_EXPIRED'],
    REQUIRE_REVIEW: ['CRYPTO_PENDING', 'FIAT_FAILED'],
    CRYPTO_PENDING: ['PROCESSING', 'CRYPTO_FAILED'],
    PROCESSING: ['SUCCESS', 'CRYPTO_FAILED'],
    SUCCESS: [],
    FIAT_FAILED: [],
    FIAT_CANCELLED: [],
    FIAT_DECLINED: [],
    FIAT_EXPIRED: [],
    CRYPTO_FAILED: [],
  },
  endings: ONRAMP_ENDINGS,
  magic: {
    '.13': 'failed',
    '.15': 'cancelled',
    '.16': 'no-callbacks-ever',
    '.17': 'never',
    '.18': 'crypto-never',
    '.19': 'slow',
    '.23': 'expired',
    '.24': 'success-after-timeout',
    '.25': 'review',
    '.27': 'crypto-failed',
    '.28': 'declined',
    '.41': 'rejected',
    '.42': 'insufficient-funds',
  },
  words: {
    interface: {
      INITIATED: 'PENDING',
      REQUIRE_REVIEW: 'PENDING',
      CRYPTO_PENDING: 'PENDING',
      PROCESSING: 'PENDING',
      SUCCESS: 'SUCCESSFUL',
      FIAT_FAILED: 'FAILED',
      FIAT_CANCELLED: 'FAILED',
      FIAT_DECLINED: 'FAILED',
      FIAT_EXPIRED: 'FAILED',
      CRYPTO_FAILED: 'FAILED',
    },
    // "Onramp: PENDING, CRYPTO_PENDING, PROCESSING, then SUCCESS or FAILED" (the live service).
    live: {
      INITIATED: 'PENDING',
      REQUIRE_REVIEW: 'PENDING',
      FIAT_FAILED: 'FAILED',
      FIAT_CANCELLED: 'FAILED',
      FIAT_DECLINED: 'FAILED',
      FIAT_EXPIRED: 'FAILED',
      CRYPTO_FAILED: 'FAILED',
    },
  },
};

const FIAT_LEG: Readonly<Record<OnrampStatus, PaymentStatus>> = {
  INITIATED: 'INITIATED',
  PENDING: 'PENDING',
  REQUIRE_REVIEW: 'REQUIRE_REVIEW',
  CRYPTO_PENDING: 'SUCCESSFUL',
  PROCESSING: 'SUCCESSFUL',
  SUCCESS: 'SUCCESSFUL',
  CRYPTO_FAILED: 'SUCCESSFUL',
  FIAT_FAILED: 'FAILED',
  FIAT_CANCELLED: 'CANCELLED',
  FIAT_DECLINED: 'DECLINED',
  FIAT_EXPIRED: 'EXPIRED',
};

/** The status of the mobile money leg, by the payment lifecycle. */
export const fiatStatusOf = (status: string): PaymentStatus => FIAT_LEG[status as OnrampStatus];

const ON_CHAIN: Readonly<Partial<Record<string, 'SUCCESSFUL' | 'FAILED'>>> = {
  SUCCESS: 'SUCCESSFUL',
  CRYPTO_FAILED: 'FAILED',
};

/** The status of the on-chain leg. Without a payment there is no transaction: it stays PENDING. */
const onChainStatusOf = (status: string) => ON_CHAIN[status] ?? 'PENDING';

const ONRAMP_EVENT = 'transaction.onramp.status.updated';
const ON_CHAIN_EVENT = 'deposit.onchain.successful';

/** With both ways to pay, mobile money is taken; with neither, the customer chooses at the redirect URL. */
const phoneOf = ({ mobileMoney, bankCheckout }: OnrampRequest) =>
  mobileMoney?.phoneNumber ?? bankCheckout?.phoneNumber ?? 'unknown';

/** Fiat in by mobile money or bank checkout, crypto out to an address. */
export const ONRAMP: Kind<OnrampRequest> = {
  operation: 'createOnramp',
  title: 'Onramp',
  idPrefix: 'ONR',
  lifecycle: ONRAMP_LIFECYCLE,
  amount: ({ fiatAmount, currency }) => ({ amount: fiatAmount, currency }),
  parties: ({ mobileMoney, bankCheckout }) => [mobileMoney?.phoneNumber, bankCheckout?.phoneNumber],
  callbackUrl: ({ callbackUrl }) => callbackUrl,
  figures({ fiatAmount, currency, token }, driftBps) {
    const fee = feeOf(String(fiatAmount), currency);
    const { cryptoAmount } = figures(less(String(fiatAmount), fee), currency, token, driftBps);
    return { fee, cryptoAmount };
  },
  move: (onramp, _from, to) => moveOnramp(onramp, to),
  data: (onramp, word, at) => ({
    referenceId: onramp.reference,
    id: onramp.id,
    status: word,
    mobile_money_status: legWord(fiatStatusOf(onramp.status)),
    crypto_received_status: onChainStatusOf(onramp.status),
    fiatAmount: onramp.body.fiatAmount,
    currency: onramp.body.currency,
    cryptoAmount: Number(onramp.figures['cryptoAmount']),
    chain: onramp.body.chain,
    token: onramp.body.token,
    receiverAddress: onramp.body.receiverAddress,
    transactionHash: hashOf(onramp),
    createdAt: onramp.createdAt,
    updatedAt: at,
  }),
  event: ONRAMP_EVENT,
  alsoTells(onramp, data, at): readonly Notice[] {
    if (onramp.status === 'CRYPTO_PENDING') return [{ event: PAYMENT_CONFIRMED_EVENT, data }];
    return onramp.status === 'SUCCESS' ? [{ event: ON_CHAIN_EVENT, data: onChainEventData(onramp, at) }] : [];
  },
};

/** What another client of the service may ask for: no callback of ours. */
export const OnChainDepositRequest = OnrampRequest.partial({ callbackUrl: true });

/** An onramp of another client of the service: in the books it is none of this one's orders. Only control makes it. */
export const ON_CHAIN_DEPOSIT: Kind<OnrampRequest> = {
  ...ONRAMP,
  operation: 'onChainDeposit',
  title: 'On-chain deposit',
  idPrefix: 'OCD',
};

/** "Which payment method must be given: not shown": either, both and neither are accepted. */
export const onrampHandlers = ({ admit, numberOf, checkoutUrl }: HandlerParts): Pick<Handlers, 'createOnramp'> => ({
  createOnramp: ({ body }) =>
    admit(ONRAMP, {
      body,
      reference: body.referenceId,
      answer: (onramp) => ({
        message: 'Onramp created',
        data: {
          id: onramp.id,
          referenceId: onramp.reference,
          message: body.mobileMoney ? 'A prompt was sent to the phone' : 'Send the customer to redirectUrl',
          customerKey: customerKey(phoneOf(body)),
          redirectUrl: body.mobileMoney ? undefined : checkoutUrl(onramp.id),
          referenceNumber: numberOf(onramp),
        },
      }),
    }),
});

/** The newest with this reference, whichever client made it. */
export const onrampOf = (transactions: Transactions, reference: string): Transaction<OnrampRequest> | undefined =>
  (transactions.ofReference(reference) as readonly Transaction<OnrampRequest>[]).find(({ operation }) =>
    [ONRAMP.operation, ON_CHAIN_DEPOSIT.operation].includes(operation),
  );

/** The fiat leg of an onramp, without its status. */
export function fiatLegOf({ body, figures: { fee = '0' } }: Transaction<OnrampRequest>): Omit<FiatLeg, 'status'> {
  const { fiatAmount: amount, currency, callbackUrl, mobileMoney, bankCheckout } = body;
  const isCheckout = mobileMoney === undefined && bankCheckout !== undefined;
  const network = isCheckout ? bankCheckout.paymentMethod : (mobileMoney?.providerNetwork ?? 'MPESA');
  return { phoneNumber: phoneOf(body), network, amount, currency, fee, callbackUrl };
}

/** "On-chain leg of a deposit". `crypto_amount` is "a string in the field schema". */
export function onChainLeg(onramp: Transaction<OnrampRequest>) {
  const { chain, token, receiverAddress } = onramp.body;
  const status = onChainStatusOf(onramp.status);
  return {
    chain,
    token,
    public_address: receiverAddress,
    reference_id: onramp.reference,
    // "a number in the sample of a successful status result"
    crypto_amount: status === 'SUCCESSFUL' ? Number(onramp.figures['cryptoAmount']) : onramp.figures['cryptoAmount'],
    transaction_hash: hashOf(onramp),
    status,
    crypto_received_status: status,
  };
}

/** The only event whose shape the interface shows. */
const onChainEventData = (onramp: Transaction<OnrampRequest>, at: string) => ({
  reference_id: onramp.reference,
  status: 'SUCCESSFUL',
  mobile_money_status: 'SUCCESSFUL',
  crypto_received_status: 'SUCCESSFUL',
  amount: onramp.body.fiatAmount,
  currency: onramp.body.currency,
  crypto_amount: Number(onramp.figures['cryptoAmount']),
  chain: onramp.body.chain,
  token: onramp.body.token,
  transaction_hash: hashOf(onramp),
  created_at: onramp.createdAt,
  completed_at: at,
});

/** DepositStatus, in every vocabulary: the member's type is known. */
const legWord = (status: string) =>
  status === 'SUCCESSFUL' ? status : ['INITIATED', 'PENDING', 'REQUIRE_REVIEW'].includes(status) ? 'PENDING' : 'FAILED';

const hashOf = ({ id, status }: Transaction) =>
  status === 'PROCESSING' || status === 'SUCCESS' ? `0x${createHash('sha256').update(id).digest('hex')}` : undefined;

function moveOnramp({ body, figures: { fee = '0', cryptoAmount = '0' } }: Transaction<OnrampRequest>, to: string) {
  const { fiatAmount, currency, token } = body;
  const amount = String(fiatAmount);
  const customer = accounts.customer(customerKey(phoneOf(body)));
  const moves: Readonly<Partial<Record<string, Move>>> = {
    CRYPTO_PENDING: { kind: 'deposit', postings: transfer(customer, accounts.held, currency, amount) },
    SUCCESS: {
      kind: 'settlement',
      postings: [
        ...transfer(accounts.held, accounts.settled, currency, less(amount, fee)),
        ...transfer(accounts.held, accounts.fees, currency, fee),
        ...transfer(accounts.treasury, accounts.cryptoOut, token, cryptoAmount),
      ],
    },
    CRYPTO_FAILED: { kind: 'release', postings: transfer(accounts.held, customer, currency, amount) },
  };
  return moves[to];
}
