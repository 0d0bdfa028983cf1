import { z } from 'zod';
import { BridgeDepositRequest, BridgeSettlement, BridgeCryptoPayment } from '../contract/bridge.js';
import { decimalsOf } from '../money.js';
import { checkFits, fitsCurrency } from './decimals.js';
import { defineFlow } from './flow.js';
import { callerReference, commonInput, decimalAmount } from './input.js';
import { bridgeEvent } from './bridge-event.js';

/**
 * Input of a `bridge-transfer`: the body of the bridge deposit without `callback_url` (the gateway's own is given to the
 * service), amounts as decimal strings or numbers, and what the flow itself needs to know.
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
    /** `auto: true`: after a failure that nobody refunded, we send the refund to the fallback address ourselves. */
    refund: z.strictObject({ auto: z.boolean() }).default({ auto: false }),
  })
  .superRefine(fitsCurrency('amount', 'source_currency'))
  .superRefine(({ settlement, token, crypto_payment: { amount_msat, crypto_amount } }, context) => {
    checkFits(context, ['settlement', 'amount'], settlement.amount, settlement.currency);
    checkFits(context, ['crypto_payment', 'amount_msat'], amount_msat, 'MSAT');
    // What a Lightning invoice is over may be said in whole bitcoins, whatever unit its token counts in.
    if (decimalsOf(token) !== 0) checkFits(context, ['crypto_payment', 'crypto_amount'], crypto_amount, token);
  });
export type BridgeTransferInput = z.infer<typeof BridgeTransferInput>;

export const bridgeTransferFlow = defineFlow<BridgeTransferInput>({
  kind: 'bridge-transfer',
  input: BridgeTransferInput,
  referenceOf: (input) => input.provider_reference_id,
  decidedBy: ({ rate_id: _rate, callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) =>
    `Bridge transfer: ${input.amount} ${input.source_currency} → ${input.settlement.amount} ${input.settlement.currency}`,
  moneyOf: (input) => ({ amount: input.amount, currency: input.source_currency }),
  readEvent: bridgeEvent,
});
