import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, numberAsText, opaque, opaqueOrText, record, text, timestamp, word } from './reading.js';
import { moneyNumber, reference, urlToSend } from './sending.js';
import {
  CARD_DEPOSIT_CURRENCIES,
  CHECKOUT_PAYMENT_METHODS,
  DEPOSIT_STATUSES,
  FIAT_CURRENCIES,
  type FiatCurrency,
} from './vocabulary.js';

/** `referenceId` is optional on the wire; our flows always set it, since they are found by it. */
export const BankCheckoutRequest = z.strictObject({
  fullName: z.string().min(1),
  phoneNumber: z.string().min(1),
  paymentMethod: z.enum(CHECKOUT_PAYMENT_METHODS),
  currency: z.enum(FIAT_CURRENCIES),
  amount: moneyNumber(),
  /** Optional when derivable from the currency; cards are accepted globally. */
  country: z.string().min(1).optional(),
  referenceId: reference().optional(),
  callbackUrl: urlToSend().optional(),
  customerRedirectUrl: urlToSend().optional(),
});
export type BankCheckoutRequest = z.infer<typeof BankCheckoutRequest>;

/** Echoes the request. */
export const BankCheckout = record(
  {
    fullName: text(),
    phoneNumber: text(),
    paymentMethod: word(CHECKOUT_PAYMENT_METHODS),
    currency: word(FIAT_CURRENCIES),
    amount: amount(),
    country: text(),
    referenceId: text(),
    callbackUrl: text(),
    customerRedirectUrl: text(),
  },
  ['referenceId'],
);
export type BankCheckout = z.infer<typeof BankCheckout>;

/** Never crosses a Temporal boundary, a log or the store. */
export const Card = z.strictObject({
  number: z.string().min(1),
  holder: z.string().optional(),
  expiryMonth: z.string().min(1),
  expiryYear: z.string().min(1),
  cvv: z.string().min(1),
  paymentBrand: z.string().optional(),
  customerRedirectUrl: urlToSend().optional(),
});
export type Card = z.infer<typeof Card>;

const isCardCurrency = (currency: FiatCurrency) => (CARD_DEPOSIT_CURRENCIES as readonly string[]).includes(currency);

export const CardDepositRequest = z.strictObject({
  fullName: z.string().min(1),
  phoneNumber: z.string().min(1),
  currency: z.enum(FIAT_CURRENCIES).refine(isCardCurrency, {
    message: `only ${CARD_DEPOSIT_CURRENCIES.join(', ')} is currently supported`,
  }),
  card: Card,
  amount: moneyNumber(),
  country: z.string().min(1).optional(),
  referenceId: reference().optional(),
  callbackUrl: urlToSend().optional(),
  customerRedirectUrl: urlToSend().optional(),
});
export type CardDepositRequest = z.infer<typeof CardDepositRequest>;

export const CardDeposit = record(
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
export type CardDeposit = z.infer<typeof CardDeposit>;

export const MobileMoneyDeposit = record(
  {
    id: text(),
    amount: amount(),
    wallet_id: text(),
    status: word(DEPOSIT_STATUSES),
    reference_number: numberAsText(),
    created_at: timestamp(),
    transaction_cost: amount(),
    transaction_amount: amount(),
    customer_key: text(),
    callback_url: text(),
    customer_redirect_url: text(),
    reference_id: text(),
    currency: text(),
    provider: text(),
    providerReference: text(),
    providerRequest: text(),
    providerResponse: text(),
    callbackUrlStatus: amount(),
    callbackResponse: text(),
    callbackPayload: opaqueOrText(),
    transactionError: opaqueOrText(),
    retries: amount(),
    network: text(),
    environment: text(),
    integratorsAmount: amount(),
    wallet: opaque(),
    customer: opaque(),
    paymentLinkTransaction: opaque(),
    updatedAt: timestamp(),
    confirmation_id: text(),
    threeDSEci: text(),
    uniqueIdentifier: text(),
    initialDepositBalance: amount(),
    finalDepositBalance: amount(),
    error_message: text(),
    error_code: text(),
    error_description: text(),
    telco_id: text(),
  },
  ['reference_id', 'status'],
);
export type MobileMoneyDeposit = z.infer<typeof MobileMoneyDeposit>;

export const OnChainLeg = record(
  {
    chain: text(),
    token: text(),
    public_address: text(),
    reference_id: text(),
    /** A string in the field schema, a number in the sample of the interface. */
    crypto_amount: amount(),
    transaction_hash: text(),
    status: word(DEPOSIT_STATUSES),
    crypto_received_status: word(DEPOSIT_STATUSES),
  },
  ['status'],
);
export type OnChainLeg = z.infer<typeof OnChainLeg>;

/** Two legs; at least one must be readable, or the answer shows nothing. */
export const OnChainDeposit = record({ mobile_money: MobileMoneyDeposit, onchain: OnChainLeg }, []).refine(
  (deposit) => (deposit.mobile_money ?? deposit.onchain ?? undefined) !== undefined,
  { message: 'has neither a readable mobile_money leg nor a readable onchain leg' },
);
export type OnChainDeposit = z.infer<typeof OnChainDeposit>;

/** No status operation in the interface: a lost answer is settled by a trusted event or a person. */
export const createBankCheckout = defineOperation({
  name: 'createBankCheckout',
  method: 'POST',
  path: '/api/v3/deposit/bank/checkout',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  body: BankCheckoutRequest,
  example: {
    referenceId: 'checkout-1002',
    fullName: 'Thandi Example',
    phoneNumber: '+27821234567',
    paymentMethod: 'PAYBYBANK',
    currency: 'ZAR',
    amount: 250.5,
    customerRedirectUrl: 'https://shop.example/paid',
  },
  data: BankCheckout,
  echoes: { amount: { member: 'amount', as: 'amount' }, currency: { member: 'currency', as: 'currency' } },
  summary: 'Collects fiat by bank checkout.',
  section: 'Deposits',
});

/** No status operation in the interface: a lost answer is settled by a trusted event or a person. */
export const createCardDeposit = defineOperation({
  name: 'createCardDeposit',
  method: 'POST',
  path: '/api/v3/deposit/card',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  body: CardDepositRequest,
  example: {
    referenceId: 'card-1002',
    fullName: 'Thandi Example',
    phoneNumber: '+27821234567',
    currency: 'ZAR',
    amount: 250.5,
    card: { number: '4111111111111111', expiryMonth: '12', expiryYear: '2030', cvv: '123' },
  },
  data: CardDeposit,
  summary: 'Collects fiat by card.',
  section: 'Deposits',
});

export const getMobileMoneyDeposit = defineOperation({
  name: 'getMobileMoneyDeposit',
  method: 'GET',
  path: '/api/v3/deposit/mobile-money/status/{reference_id}',
  param: 'reference_id',
  auth: 'bearer',
  effect: 'read',
  data: MobileMoneyDeposit,
  summary: 'Checks the status of a mobile money deposit.',
  section: 'Deposits',
});

export const getOnChainDeposit = defineOperation({
  name: 'getOnChainDeposit',
  method: 'GET',
  path: '/api/v3/deposit/on-chain/status/{reference_id}',
  param: 'reference_id',
  auth: 'bearer',
  effect: 'read',
  data: OnChainDeposit,
  summary: 'Reads the status of an on-chain deposit request: its mobile money leg and its on-chain leg.',
  section: 'Deposits',
});
