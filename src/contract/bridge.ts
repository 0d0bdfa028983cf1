import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, record, text, timestamp, word, opaque } from './reading.js';
import { decimalNumber, moneyNumber, reference, timestampToSend, urlToSend } from './sending.js';
import {
  BRIDGE_CHAINS,
  BRIDGE_STATUSES,
  BRIDGE_TOKENS,
  BRIDGE_TRANSACTION_TYPES,
  FIAT_CURRENCIES,
} from './vocabulary.js';

export const BridgeQuoteRequest = z.strictObject({
  source_currency: z.enum(FIAT_CURRENCIES),
  source_amount: moneyNumber(),
  crypto_chain: z.enum(BRIDGE_CHAINS),
  crypto_token: z.enum(BRIDGE_TOKENS),
  requested_crypto_amount: moneyNumber().optional(),
});
export type BridgeQuoteRequest = z.infer<typeof BridgeQuoteRequest>;

export const BridgeQuote = record(
  {
    rate_id: text(),
    source_amount: amount(),
    source_currency: word(FIAT_CURRENCIES),
    crypto_amount: amount(),
    crypto_unit: text(),
    chain: word(BRIDGE_CHAINS),
    token: word(BRIDGE_TOKENS),
    exchange_rate: record({ fiat_to_btc: text(), btc_to_msat: amount(), exchange_rate_source: text() }, []),
    fees: record(
      {
        fiat_fee: amount(),
        fiat_fee_currency: text(),
        crypto_fee: amount(),
        crypto_fee_unit: text(),
        fee_percentage: amount(),
      },
      [],
    ),
    total_cost: amount(),
    net_crypto_amount: amount(),
    expires_at: timestamp(),
    created_at: timestamp(),
  },
  ['rate_id'],
);
export type BridgeQuote = z.infer<typeof BridgeQuote>;

/** A pre-generated invoice or address. The interface marks no member as required; a request may carry both. */
export const BridgeCryptoPayment = z.strictObject({
  bolt11: z.string().min(1).optional(),
  payment_hash: z.string().min(1).optional(),
  amount_msat: decimalNumber().optional(),
  address: z.string().min(1).optional(),
  crypto_amount: decimalNumber().optional(),
  expires_at: timestampToSend().optional(),
});

export const BridgeRecipient = z.strictObject({
  phone_number: z.string().optional(),
  payment_method: z.string().optional(),
  mobile_money_provider: z.string().optional(),
  bank_account_number: z.string().optional(),
  bank_code: z.string().optional(),
  account_holder_name: z.string().optional(),
});

export const BridgeSettlement = z.strictObject({
  amount: moneyNumber(),
  currency: z.string().min(1),
  country: z.string().optional(),
  recipient: BridgeRecipient,
});

export const BridgeMetadata = z.strictObject({
  sender_name: z.string().optional(),
  sender_country: z.string().optional(),
  recipient_name: z.string().optional(),
  recipient_country: z.string().optional(),
  notes: z.string().optional(),
});

export const BridgeDepositRequest = z.strictObject({
  customer_key: z.string().min(1),
  provider_reference_id: reference(),
  amount: moneyNumber(),
  source_currency: z.string().min(1),
  wallet_id: z.string().min(1),
  transaction_type: z.enum(BRIDGE_TRANSACTION_TYPES),
  chain: z.enum(BRIDGE_CHAINS),
  token: z.enum(BRIDGE_TOKENS),
  crypto_payment: BridgeCryptoPayment,
  settlement: BridgeSettlement,
  callback_url: urlToSend(),
  rate_id: z.string().min(1).optional(),
  metadata: BridgeMetadata.optional(),
});
export type BridgeDepositRequest = z.infer<typeof BridgeDepositRequest>;

export const BridgeRefundConfig = record(
  {
    primary_method: text(),
    chain: text(),
    token: text(),
    refund_invoice: text(),
    refund_payment_hash: text(),
    refund_amount_msat: amount(),
    refund_crypto_amount: amount(),
    fallback_address: text(),
    fallback_method: text(),
    expires_at: text().meta({ format: 'date-time' }),
  },
  [],
);
export type BridgeRefundConfig = z.infer<typeof BridgeRefundConfig>;

export const BridgeDeposit = record(
  {
    kotani_reference_id: text(),
    provider_reference_id: text(),
    status: word(BRIDGE_STATUSES),
    chain: text(),
    token: text(),
    payment_hash: text(),
    refund_config: BridgeRefundConfig,
    estimated_completion: timestamp(),
    created_at: timestamp(),
  },
  ['kotani_reference_id', 'status'],
);
export type BridgeDeposit = z.infer<typeof BridgeDeposit>;

export const quoteBridge = defineOperation({
  name: 'quoteBridge',
  method: 'POST',
  path: '/api/v3/rate/crypto-bridge',
  auth: 'bearer',
  effect: 'quote',
  body: BridgeQuoteRequest,
  example: { source_currency: 'KES', source_amount: 1000.5, crypto_chain: 'CELO', crypto_token: 'USDC' },
  data: BridgeQuote,
  summary: 'Gets a quote before a bridge deposit, to show estimated fiat and crypto amounts.',
  section: 'Crypto bridge',
});

export const createBridgeDeposit = defineOperation({
  name: 'createBridgeDeposit',
  method: 'POST',
  path: '/api/v3/deposit/crypto-bridge',
  auth: 'bearer',
  effect: 'money',
  reference: 'provider_reference_id',
  body: BridgeDepositRequest,
  example: {
    customer_key: 'customer-1',
    provider_reference_id: 'order-1004',
    amount: 1000.5,
    callback_url: 'https://shop.example/callbacks/order-1004',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: 7.5 },
    settlement: {
      amount: 100,
      currency: 'ZAR',
      country: 'ZA',
      recipient: { phone_number: '+27821234567', account_holder_name: 'Thandi Example' },
    },
  },
  data: BridgeDeposit,
  echoes: {
    chain: { member: 'chain', as: 'asset' },
    token: { member: 'token', as: 'asset' },
    'crypto_payment.payment_hash': { member: 'payment_hash', as: 'hash' },
  },
  paymentRequest: {
    'crypto_payment.bolt11': 'invoice',
    'crypto_payment.payment_hash': 'hash',
    'crypto_payment.expires_at': 'expiry',
  },
  summary: 'Creates a cross-border crypto bridge deposit.',
  section: 'Crypto bridge',
});

const SettlementCryptoPayment = record(
  {
    chain: text(),
    token: text(),
    payment_hash: text(),
    received_at: timestamp(),
    amount_msat: amount(),
    crypto_amount: amount(),
  },
  [],
);

const SettlementDetails = record(
  {
    amount: amount(),
    currency: text(),
    recipient_phone: text(),
    payment_method: text(),
    transaction_id: text(),
    settled_at: timestamp(),
    provider: text(),
    bank_name: text(),
  },
  [],
);

const SettlementFailure = record(
  { failure_stage: text(), failure_reason: text(), failure_message: text(), failed_at: timestamp() },
  [],
);

const SettlementRefund = record(
  {
    refund_method_used: text(),
    chain: text(),
    token: text(),
    refund_initiated_at: timestamp(),
    refund_status: text(),
    refund_invoice: text(),
    refund_payment_hash: text(),
    refund_amount_msat: amount(),
    refund_crypto_amount: amount(),
  },
  [],
);

/** The settlement webhook as we receive it. A documented one carries all three detail objects at once: decide by `status`. */
export const SettlementEvent = record(
  {
    webhook_type: text(),
    provider_reference_id: text(),
    kotani_reference_id: text(),
    status: word(BRIDGE_STATUSES),
    timestamp: timestamp(),
    crypto_payment: SettlementCryptoPayment,
    settlement_details: SettlementDetails,
    failure_details: SettlementFailure,
    refund_details: SettlementRefund,
    metadata: opaque(),
  },
  ['status'],
);
export type SettlementEvent = z.infer<typeof SettlementEvent>;

/** The same members, passed on as the provider gave them: the interface names them, but shows no types. */
const asReported = (details: z.ZodObject) =>
  z.looseObject(Object.fromEntries(Object.keys(details.shape).map((member) => [member, z.unknown().optional()])));

/** Body of the settlement webhook as we report it to the service. */
export const SettlementReport = z.strictObject({
  webhook_type: z.string().min(1),
  provider_reference_id: reference(),
  kotani_reference_id: z.string().min(1),
  status: z.enum(BRIDGE_STATUSES),
  timestamp: timestampToSend(),
  crypto_payment: asReported(SettlementCryptoPayment),
  settlement_details: asReported(SettlementDetails).optional(),
  failure_details: asReported(SettlementFailure).optional(),
  refund_details: asReported(SettlementRefund).optional(),
  metadata: z.looseObject({}).optional(),
});
export type SettlementReport = z.infer<typeof SettlementReport>;

export const reportSettlement = defineOperation({
  name: 'reportSettlement',
  method: 'POST',
  path: '/api/v3/deposit/crypto-bridge/webhook/provider/settlement',
  auth: 'none',
  effect: 'report',
  body: SettlementReport,
  data: opaque(),
  success: 201,
  summary: 'Receives provider settlement status updates.',
  section: 'Crypto bridge',
});
