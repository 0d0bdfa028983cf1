import { z } from 'zod';
import { BridgeDepositRequest, BridgeSettlement, BridgeCryptoPayment, SettlementEvent } from '../contract/bridge.js';
import { decimalsOf } from '../money.js';
import { BRIDGE_STATUSES, QUOTE_VALIDITY_SECONDS } from '../contract/vocabulary.js';
import { checkFits, fitsCurrency, callerReference, commonInput, decimalAmount } from './input.js';
import { UNREADABLE } from '../protocol/messages.js';
import { amountFact, IDENTIFIER, memberOf, PLAIN_WORD } from './callback.js';
import { defineFlow, type EventReading } from './flow.js';

/**
 * The two forms of a bridge event: the bare fields, or the envelope `{event, data}`. The service spells the caller's
 * reference in three ways.
 */
const Bare = SettlementEvent.extend({
  status: z.string().optional(),
  reference_id: z.string().optional(),
  referenceId: z.string().optional(),
  amount: z.unknown().optional(),
  currency: z.string().nullish(),
  chain: z.string().nullish(),
  token: z.string().nullish(),
});

const ANY = /./;

/** The fields of an event, taken out of its envelope if it has one. */
export function bridgeFieldsOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('event' in body && 'data' in body)) return body;
  const { event, data } = body;
  const isEnvelope = typeof event === 'string' && typeof data === 'object' && data !== null && !Array.isArray(data);
  return isEnvelope ? data : body;
}

/**
 * A status in the interface's spelling, also if a provider writes it in lower case; an unknown word stays unchanged.
 */
export function bridgeWord(said: string): string {
  const word = said.trim().toUpperCase();
  return BRIDGE_STATUSES.find((status) => status === word) ?? said;
}

/** Facts to compare and decide by; no personal data, no free text. */
function bridgeEvent(body: unknown): EventReading | undefined {
  const bare = Bare.safeParse(bridgeFieldsOf(body));
  if (!bare.success) return undefined;
  const event = bare.data;
  const facts: Record<string, string> = {};
  const add = (name: string, value: string | null | undefined, pattern = ANY) => {
    if (typeof value === 'string' && pattern.test(value)) facts[name] = value;
  };
  // Our tolerant schema leaves out what it cannot read.
  const addAmount = (name: string, read: string | null | undefined, details: string, member: string) =>
    add(name, amountFact(read ?? memberOf(memberOf(bridgeFieldsOf(body), details), member)));
  add('serviceReference', event.kotani_reference_id, IDENTIFIER);
  add('amount', amountFact(event.amount));
  add('currency', event.currency, PLAIN_WORD);
  addAmount('settlementAmount', event.settlement_details?.amount, 'settlement_details', 'amount');
  add('settlementCurrency', event.settlement_details?.currency, PLAIN_WORD);
  add('chain', event.crypto_payment?.chain ?? event.chain, PLAIN_WORD);
  add('token', event.crypto_payment?.token ?? event.token, PLAIN_WORD);
  add('paymentHash', event.crypto_payment?.payment_hash, /^\w{1,128}$/);
  addAmount('cryptoAmount', event.crypto_payment?.crypto_amount, 'crypto_payment', 'crypto_amount');
  addAmount('amountMsat', event.crypto_payment?.amount_msat, 'crypto_payment', 'amount_msat');
  add('cryptoReceivedAt', event.crypto_payment?.received_at, /^[\d:TZ.+-]{10,40}$/);
  add('failureStage', event.failure_details?.failure_stage, PLAIN_WORD);
  const refundStatus = event.refund_details?.refund_status;
  add('refundStatus', refundStatus, PLAIN_WORD);
  if (typeof refundStatus === 'string' && !PLAIN_WORD.test(refundStatus)) facts['refundStatus'] = UNREADABLE;
  const refunded = event.refund_details?.refund_crypto_amount;
  addAmount('refundCryptoAmount', refunded, 'refund_details', 'refund_crypto_amount');
  if (event.refund_details !== null && event.refund_details !== undefined) facts['refundAnnounced'] = 'true';
  return {
    reference: event.provider_reference_id ?? event.referenceId ?? event.reference_id ?? null,
    status: event.status === undefined ? null : bridgeWord(event.status),
    facts,
  };
}

/**
 * Input of a `bridge-transfer`: the body of the bridge deposit without `callback_url` (the service gets the gateway's
 * own), amounts as decimal strings or numbers, and the members that only the flow needs.
 */
export const BridgeTransferInput = BridgeDepositRequest.omit({ callback_url: true })
  .extend({
    provider_reference_id: callerReference(),
    amount: decimalAmount(),
    crypto_payment: BridgeCryptoPayment.extend({
      amount_msat: decimalAmount().optional(),
      crypto_amount: decimalAmount().optional(),
    }),
    settlement: BridgeSettlement.extend({ amount: decimalAmount() }),
    ...commonInput,
    /** How much less crypto a new quote may give than the first one, in hundredths of a percent. */
    maxSlippageBps: z.int().min(0).max(10_000).default(100),
    /** `required`: a person or the caller approves the quote before any money moves. */
    approval: z.enum(['none', 'required']).default('none'),
    /** `auto: true`: after a failure without a refund, we send the refund to the fallback address ourselves. */
    refund: z.strictObject({ auto: z.boolean() }).default({ auto: false }),
  })
  .superRefine(fitsCurrency('amount', 'source_currency'))
  .superRefine(({ settlement, token, crypto_payment: { amount_msat, crypto_amount } }, context) => {
    checkFits(context, ['settlement', 'amount'], settlement.amount, settlement.currency);
    checkFits(context, ['crypto_payment', 'amount_msat'], amount_msat, 'MSAT');
    // The amount of a Lightning invoice may be given in whole bitcoins, whatever unit its token counts in.
    if (decimalsOf(token) !== 0) checkFits(context, ['crypto_payment', 'crypto_amount'], crypto_amount, token);
  });
export type BridgeTransferInput = z.infer<typeof BridgeTransferInput>;

export const bridgeTransferFlow = defineFlow({
  kind: 'bridge-transfer',
  input: BridgeTransferInput,
  referenceMember: 'provider_reference_id',
  decidedBy: ({ rate_id: _rate, callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) =>
    `Bridge transfer: ${input.amount} ${input.source_currency} → ${input.settlement.amount} ${input.settlement.currency}`,
  moneyOf: (input) => ({ amount: input.amount, currency: input.source_currency, member: 'amount' }),
  carriesOut: {
    // A caller of the service's interface has agreed to no slippage: an expired quote is only replaced by one that is
    // at least as good.
    createBridgeDeposit: ({ callback_url: callbackUrl, ...body }) => ({ ...body, callbackUrl, maxSlippageBps: 0 }),
  },
  refundedWord: 'REFUNDED',
  readEvent: bridgeEvent,
  demo: {
    name: 'completed',
    title: 'nothing goes wrong',
    expected: 'completed',
    executes: { createBridgeDeposit: 1 },
  },
  docs: {
    story: 'quote → (approval) → deposit → settlement, or refund',
    learns: "callbacks, and the provider's settlements that are proven; no lookup",
    guaranteed: 'no expired quote is sent; a refund of ours is sent once, and never against a COMPLETED',
    atDeadline: ['no_settlement', 'unverified_settlement'],
    parks: 'a refund that is due: `refund_…`',
  },
});

export const QUOTE_LIFE_MS = QUOTE_VALIDITY_SECONDS * 1_000;

/**
 * How long a quote is valid: a duration between two timestamps of the service's own clock, so that ours does not
 * matter. Never more than the interface says.
 */
export function quoteLifeMs(quote: {
  readonly created_at?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
}): number {
  const lifeMs = Date.parse(quote.expires_at ?? '') - Date.parse(quote.created_at ?? '');
  return Number.isFinite(lifeMs) && lifeMs > 0 ? Math.min(lifeMs, QUOTE_LIFE_MS) : QUOTE_LIFE_MS;
}
