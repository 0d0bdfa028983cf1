import { z } from 'zod';
import { SettlementEvent } from '../contract/bridge.js';
import type { EventReading } from './flow.js';

/**
 * The two ways a bridge event comes: the bare fields, or in the envelope `{event, data}`. The service spells the
 * caller's reference in three ways.
 */
const Bare = SettlementEvent.extend({
  status: z.string().optional(),
  reference_id: z.string().optional(),
  referenceId: z.string().optional(),
  amount: z.union([z.string(), z.number().transform(String)]).nullish(),
  currency: z.string().nullish(),
  chain: z.string().nullish(),
  token: z.string().nullish(),
});

const DECIMAL = /^\d{1,30}(\.\d{1,30})?$/;
const WORD = /^[\w .:-]{1,64}$/;

/** The fields of an event, out of its envelope where it came in one. */
export function bridgeFieldsOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('event' in body && 'data' in body)) return body;
  const { event, data } = body;
  const isEnvelope = typeof event === 'string' && typeof data === 'object' && data !== null && !Array.isArray(data);
  return isEnvelope ? data : body;
}

/** Facts to compare and decide by; nothing of a person, no free text. */
export function bridgeEvent(body: unknown): EventReading | undefined {
  const bare = Bare.safeParse(bridgeFieldsOf(body));
  if (!bare.success) return undefined;
  const event = bare.data;
  const facts: Record<string, string> = {};
  const add = (name: string, value: string | null | undefined, pattern: RegExp) => {
    if (typeof value === 'string' && pattern.test(value)) facts[name] = value;
  };
  add('serviceReference', event.kotani_reference_id, /^[\w.:-]{1,128}$/);
  add('amount', event.amount, DECIMAL);
  add('currency', event.currency, WORD);
  add('settlementAmount', event.settlement_details?.amount, DECIMAL);
  add('settlementCurrency', event.settlement_details?.currency, WORD);
  add('chain', event.crypto_payment?.chain ?? event.chain, WORD);
  add('token', event.crypto_payment?.token ?? event.token, WORD);
  add('paymentHash', event.crypto_payment?.payment_hash, /^\w{1,128}$/);
  add('cryptoAmount', event.crypto_payment?.crypto_amount, DECIMAL);
  add('amountMsat', event.crypto_payment?.amount_msat, DECIMAL);
  add('cryptoReceivedAt', event.crypto_payment?.received_at, /^[\d:TZ.+-]{10,40}$/);
  add('failureStage', event.failure_details?.failure_stage, WORD);
  add('refundStatus', event.refund_details?.refund_status, WORD);
  add('refundCryptoAmount', event.refund_details?.refund_crypto_amount, DECIMAL);
  if (event.refund_details !== null && event.refund_details !== undefined) facts['refundAnnounced'] = 'true';
  return {
    reference: event.provider_reference_id ?? event.referenceId ?? event.reference_id ?? null,
    status: event.status ?? null,
    facts,
  };
}
