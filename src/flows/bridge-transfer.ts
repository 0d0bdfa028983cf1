import { z } from 'zod';
import { BridgeDepositRequest, BridgeSettlement, BridgeCryptoPayment } from '../contract/bridge.js';
import { compareAmounts, decimalsOf } from '../money.js';
import { FIAT_CURRENCIES, QUOTE_VALIDITY_SECONDS } from '../contract/vocabulary.js';
import { checkFits, code, fitsCurrency, callerReference, commonInput, decimalAmount } from './input.js';
import { amountIn, UNREADABLE } from '../protocol/messages.js';
import { amountFact, codeFact, factOf, fieldsOf, isGiven, isObject, memberOf, referencesIn } from './callback.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { readHash } from '../readers/hash.js';
import { INVOICE_FAULTS, readLightningInvoice } from '../readers/lightning-invoice.js';
import { readReference } from '../readers/reference.js';
import { durationMs, readTime } from '../readers/time.js';
import { defineFlow, type EventReading, type MoneyOfFlow } from './flow.js';
import { hashIn } from './payment-request.js';
import { assetFacts, factsIn, namesPayment, recordFact } from './record-facts.js';
import { terms } from './terms.js';

/**
 * Members of a bridge event that are objects, each with the statuses of events that are not about it: "decide by
 * `status`".
 */
const DETAILS = {
  crypto_payment: [],
  settlement_details: ['FAILED', 'REFUNDED'],
  failure_details: ['COMPLETED', 'REFUNDED'],
  refund_details: ['COMPLETED', 'REFUNDED'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Facts to compare and decide by; no personal data, no free text. A member that is there and cannot be read may say
 * anything: its fact is `UNREADABLE`, or that of the whole `body`.
 */
function bridgeEvent(body: unknown): EventReading | undefined {
  const { fields, holds } = fieldsOf(body);
  if (!isObject(fields)) return undefined;
  const given = memberOf(fields, 'status');
  const status = readCode(given) ?? null;
  const hasUnread = (details: string) => isGiven(memberOf(fields, details)) && !isObject(memberOf(fields, details));
  const isUnread =
    holds === 'unreadable' ||
    (holds === 'nothing' && !isGiven(given)) ||
    (isGiven(given) && status === null) ||
    Object.entries(DETAILS).some(
      ([details, besides]) => hasUnread(details) && !besides.some((word) => word === status),
    );
  const said = (details: keyof typeof DETAILS, member: string) => memberOf(memberOf(fields, details), member);
  const facts = factsIn({
    body: isUnread ? UNREADABLE : undefined,
    serviceReference: factOf(memberOf(fields, 'kotani_reference_id'), readReference),
    amount: amountFact(memberOf(fields, 'amount')),
    currency: codeFact(memberOf(fields, 'currency')),
    settlementAmount: amountFact(said('settlement_details', 'amount')),
    settlementCurrency: codeFact(said('settlement_details', 'currency')),
    ...assetFacts(fields),
    ...assetFacts(memberOf(fields, 'crypto_payment')),
    paymentHash: factOf(said('crypto_payment', 'payment_hash'), readHash),
    cryptoAmount: amountFact(said('crypto_payment', 'crypto_amount')),
    amountMsat: amountFact(said('crypto_payment', 'amount_msat')),
    cryptoReceivedAt: timeFact(said('crypto_payment', 'received_at')),
    failureStage: codeFact(said('failure_details', 'failure_stage')),
    refundStartedAt: timeFact(said('refund_details', 'refund_initiated_at')),
    refundMethodUsed: codeFact(said('refund_details', 'refund_method_used')),
    refundHash: factOf(refundHashIn(memberOf(fields, 'refund_details')), readHash),
    refundInvoiceExpiresAt: expiryOf(said('refund_details', 'refund_invoice')),
    refundStatus: codeFact(said('refund_details', 'refund_status')),
    refundCryptoAmount: amountFact(said('refund_details', 'refund_crypto_amount')),
    refundAnnounced: isGiven(memberOf(fields, 'refund_details')) ? 'true' : undefined,
  });
  // The service spells the caller's reference in three ways.
  const references = referencesIn(fields, ['provider_reference_id', 'referenceId', 'reference_id']);
  return { references, status, facts };
}

/** Status and facts of a looked-up deposit: read as an event of it is, and compared by more than that. */
function bridgeRecord(record: unknown) {
  const { status = null, facts: all = {} } = bridgeEvent(record) ?? {};
  const { amount: _amount, currency: _currency, ...facts } = all;
  return { status, facts: { ...facts, ...identityOf(record) } };
}

/** The facts that identify a looked-up deposit. */
function identityOf(record: unknown): Readonly<Record<string, string>> {
  const paid = memberOf(memberOf(record, 'stages'), 'deposit');
  const [side] = [record, paid].filter((one) => isGiven(memberOf(one, 'amount')) && isGiven(memberOf(one, 'currency')));
  const currency = recordFact(side, 'currency', readCode);
  return factsIn({
    ourReference: recordFact(record, 'provider_reference_id', readReference),
    serviceReference: recordFact(record, 'kotani_reference_id', readReference),
    paymentHash: recordFact(record, 'payment_hash', readHash),
    ...(currency === undefined ? {} : { [amountIn(currency)]: recordFact(side, 'amount', readAmount) }),
    ...assetFacts(record),
  });
}

export const bridgeRecordFacts = (record: unknown): Readonly<Record<string, string>> => bridgeRecord(record).facts;

/** The hash of the payment by which the service refunds: the interface's own member, or as others name it. */
const refundHashIn = (details: unknown): unknown =>
  ['refund_payment_hash', 'refund_transaction_hash', 'transaction_hash']
    .map((member) => memberOf(details, member))
    .find(isGiven);

/** When the Lightning invoice can no longer be paid; undefined for what is none. */
function expiryOf(invoice: unknown): string | undefined {
  const read = readLightningInvoice(invoice);
  return typeof read === 'string' ? undefined : new Date(read.expiresAtMs).toISOString();
}

const timeFact = (said: unknown): string | undefined =>
  factOf(said, (time) => {
    const ms = readTime(time);
    return ms === undefined ? undefined : new Date(ms).toISOString();
  });

const NOT_OF_INVOICE = 'is not that of the invoice in bolt11';

/**
 * Input of a `bridge-transfer`: the body of the bridge deposit without `callback_url` (the service gets the gateway's
 * own), amounts as decimal strings or numbers, and the members that only the flow needs.
 */
export const BridgeTransferInput = BridgeDepositRequest.omit({ callback_url: true })
  .extend({
    provider_reference_id: callerReference(),
    amount: decimalAmount(),
    // Only those of quotes: every deposit has a quote, which would refuse another currency with its reference used up.
    source_currency: code().pipe(z.enum(FIAT_CURRENCIES)),
    crypto_payment: BridgeCryptoPayment.extend({
      payment_hash: z
        .string()
        .refine((text) => readHash(text) !== undefined, { message: 'must be a hash' })
        .optional(),
      amount_msat: decimalAmount().optional(),
      crypto_amount: decimalAmount().optional(),
    }),
    settlement: BridgeSettlement.extend({ amount: decimalAmount(), currency: code() }),
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
  })
  .superRefine(({ crypto_payment: { bolt11, payment_hash, amount_msat } }, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['crypto_payment', member], message });
    if (bolt11 === undefined) return;
    const invoice = readLightningInvoice(bolt11);
    if (typeof invoice === 'string') return refuse('bolt11', INVOICE_FAULTS[invoice]);
    const { paymentHash, amountMsat } = invoice;
    if (payment_hash !== undefined && hashIn(payment_hash) !== paymentHash) refuse('payment_hash', NOT_OF_INVOICE);
    if (amount_msat !== undefined && amountMsat !== null && amount_msat !== amountMsat) {
      refuse('amount_msat', NOT_OF_INVOICE);
    }
  });
export type BridgeTransferInput = z.infer<typeof BridgeTransferInput>;

/** What comes in, and is refunded at most. */
function amountsIn(
  { amount_msat, crypto_amount, bolt11 }: BridgeTransferInput['crypto_payment'],
  token: string,
): readonly MoneyOfFlow[] {
  const invoice = readLightningInvoice(bolt11);
  const msat = amount_msat ?? (typeof invoice === 'string' ? null : invoice.amountMsat);
  return [
    ...(msat === null
      ? []
      : [{ amount: msat, currency: 'MSAT', member: 'crypto_payment.amount_msat', isPaidIn: true as const }]),
    ...(crypto_amount === undefined
      ? []
      : [
          {
            amount: crypto_amount,
            currency: unitOf(crypto_amount, token),
            member: 'crypto_payment.crypto_amount',
            isPaidIn: true as const,
          },
        ]),
  ];
}

/** The amount of a Lightning invoice may be given in whole bitcoins: less than a satoshi is no payment. */
const unitOf = (amount: string, token: string): string =>
  token === 'MSAT' && compareAmounts(amount, '1000') < 0 ? 'BTC' : token;

export const bridgeTransferFlow = defineFlow({
  kind: 'bridge-transfer',
  input: BridgeTransferInput,
  referenceMember: 'provider_reference_id',
  decidedBy: ({ rate_id: _rate, callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) =>
    `Bridge transfer: ${input.amount} ${input.source_currency} → ${input.settlement.amount} ${input.settlement.currency}`,
  moneyOf: (input) => ({ amount: input.amount, currency: input.source_currency, member: 'amount' }),
  amountsOf: ({ amount, source_currency, settlement, token, crypto_payment }) => [
    { amount, currency: source_currency, member: 'amount' },
    { amount: settlement.amount, currency: settlement.currency, member: 'settlement.amount' },
    ...amountsIn(crypto_payment, token),
  ],
  termsOf: ({ amount, source_currency: currency, chain, settlement }) =>
    terms({
      sends: { amount, currency },
      receives: { amount: settlement.amount, currency: settlement.currency },
      recipient: settlement.recipient.phone_number ?? settlement.recipient.bank_account_number,
      network: chain,
    }),
  carriesOut: {
    // A caller of the service's interface has agreed to no slippage: an expired quote is only replaced by one that is
    // at least as good.
    createBridgeDeposit: ({ callback_url: callbackUrl, ...body }) => ({ ...body, callbackUrl, maxSlippageBps: 0 }),
  },
  // Its documentation names the service's own reference: that it does not know ours says nothing.
  liveStatus: {
    operation: 'getBridgeDeposit',
    missProvesNothing: true,
    proves: namesPayment,
    read: bridgeRecord,
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
    learns:
      "callbacks, and the provider's settlements that are proven; no lookup, but with `SERVICE_PROFILE` `live` " +
      '`getBridgeDeposit`, from a minute on, which counts as much as a proven event',
    guaranteed: 'no expired quote is sent; a refund of ours is sent once, and never against a COMPLETED',
    atDeadline: ['no_settlement', 'unverified_settlement'],
    parks: 'a refund that is due: `refund_…`',
  },
});

export const QUOTE_LIFE_MS = QUOTE_VALIDITY_SECONDS * 1_000;

/** The unit of a quote's crypto amount; one that is no code is equal to itself alone. */
export const quoteUnit = ({ crypto_unit: unit }: { readonly crypto_unit?: string | null | undefined }): string | null =>
  readCode(unit) ?? unit ?? null;

/**
 * How long a quote is valid: a duration between two timestamps of the service's own clock, so that ours does not
 * matter. Never more than the interface says.
 */
export function quoteLifeMs(quote: {
  readonly created_at?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
}): number {
  const lifeMs = durationMs(quote.created_at, quote.expires_at) ?? 0;
  return lifeMs > 0 ? Math.min(lifeMs, QUOTE_LIFE_MS) : QUOTE_LIFE_MS;
}
