import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, opaque, record, text, timestamp, word } from './reading.js';
import { reference, timestampToSend } from './sending.js';
import { BRIDGE_STATUSES } from './vocabulary.js';

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
