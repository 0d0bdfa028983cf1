import type { z } from 'zod';
import { OnrampBankCheckout, OnrampMobileMoney, OnrampRequest } from '../contract/onramp.js';
import { toWireNumber } from '../money.js';
import { ONRAMP_WORDS, isFinal, classifyStatus, PAYMENT_WORDS, type Meaning } from '../protocol/statuses.js';
import { ON_CHAIN_DEPOSIT_EVENT } from '../contract/events.js';
import { fitsCurrency, callerReference, commonInput, decimalAmount, phoneNumber } from './input.js';
import { asItIs, saysStatus, type FlowReads, type SaidByFlow } from './service-interface.js';
import { defineFlow, type EventReading, type FlowDefinition } from './flow.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { plainAddress, readAddress } from '../readers/hash.js';
import { readReference } from '../readers/reference.js';
import { assetFacts, factsIn, recordFact, statusIn } from './record-facts.js';
import { callbackEvent, memberOf, type CallbackFields } from './callback.js';
import { terms } from './terms.js';

/** What is read from the two legs, in a looked-up record or in an event; null if it is missing. */
interface OnrampLegs {
  readonly fiat: string | null;
  readonly crypto: string | null;
  /** `crypto_received_status`: beside the on-chain status in a record, alone in an event. */
  readonly received: string | null;
}

/**
 * The record of `getOnChainDeposit`, with that of `getMobileMoneyDeposit` as its missing leg: status and facts are read
 * from both, so that the payment that decides is also the one that is compared with ours.
 */
export function withMobileMoney(record: unknown, mobileMoney: unknown): object {
  const legs = (record ?? {}) as { readonly mobile_money?: unknown };
  return mobileMoney === undefined ? legs : { ...legs, mobile_money: legs.mobile_money ?? mobileMoney };
}

/** The status of an onramp, from both of its legs. */
function onrampStatus(record: unknown): string | null {
  const [fiat, onchain] = [memberOf(record, 'mobile_money'), memberOf(record, 'onchain')];
  return onrampWord({
    fiat: statusIn(memberOf(fiat, 'status')),
    crypto: statusIn(memberOf(onchain, 'status')),
    received: statusIn(memberOf(onchain, 'crypto_received_status')),
  });
}

/**
 * The facts that identify a looked-up onramp. The references of its legs may be the service's own: they count only for a
 * leg that has nothing else to compare.
 */
export function onrampFacts(record: unknown): Readonly<Record<string, string>> {
  const [fiat, onchain] = [memberOf(record, 'mobile_money'), memberOf(record, 'onchain')];
  const fiatAmount = recordFact(fiat, 'amount', readAmount);
  const receiverAddress = recordFact(onchain, 'public_address', readAddress);
  const facts = factsIn({
    fiatReference: fiatAmount === undefined ? recordFact(fiat, 'reference_id', readReference) : undefined,
    onChainReference: receiverAddress === undefined ? recordFact(onchain, 'reference_id', readReference) : undefined,
    fiatAmount,
    currency: recordFact(fiat, 'currency', readCode),
    receiverAddress,
  });
  return { ...assetFacts(onchain), ...facts };
}

/**
 * One word of `ONRAMP_WORDS` for both legs. The crypto leg counts once the fiat is collected, or once the crypto is
 * delivered: a chain that says FAILED while the customer has not paid says nothing about money. If the fiat is not shown
 * at all, it may be collected: crypto that failed, or came back, does not give it back. A combination that no order of
 * events explains gets a word that is in no table: it is shown, and counts neither as success nor as final.
 */
function onrampWord({ fiat, crypto: onchain, received }: OnrampLegs): string | null {
  const crypto = onchain ?? received;
  const paid = fiat === null ? null : classifyStatus(PAYMENT_WORDS, fiat);
  const sent = crypto === null ? null : classifyStatus(PAYMENT_WORDS, crypto);
  if (excludes(sent, received === null ? null : classifyStatus(PAYMENT_WORDS, received))) return `CONTRADICTORY_CRYPTO`;
  if (paid === 'failed') return sent === 'succeeded' ? 'CRYPTO_WITHOUT_FIAT' : `FIAT_${fiat}`;
  if (paid === 'refunded') return sent === null || sent === 'failed' ? `FIAT_${fiat}` : 'CRYPTO_WITHOUT_FIAT';
  if (crypto !== null && (paid === 'succeeded' || sent === 'succeeded')) return `CRYPTO_${crypto}`;
  if (fiat !== null) return `FIAT_${fiat}`;
  return sent === 'failed' || sent === 'refunded' ? `CRYPTO_${crypto}` : crypto;
}

/** Both legs, by both lookups: the service may know the payment before it knows of a transaction on a chain. */
export const LEGS_LOOKUP = {
  operation: 'getOnChainDeposit',
  besides: {
    operation: 'getMobileMoneyDeposit',
    isNeeded: (record) => (record as { mobile_money?: unknown } | undefined)?.mobile_money == null,
  },
  read: (record, mobileMoney) => {
    const legs = withMobileMoney(record, mobileMoney);
    return { status: onrampStatus(legs), facts: onrampFacts(legs) };
  },
} as const satisfies FlowDefinition['status'];

/** Reads of the service's own interface that are about the two legs. */
export const LEGS_READS: FlowReads = {
  getMobileMoneyDeposit: { words: PAYMENT_WORDS, said: saysStatus('reference_id', { completed: 'SUCCESSFUL' }) },
  getOnChainDeposit: { words: ONRAMP_WORDS, said: saysLegs },
};

function excludes(one: Meaning | null, other: Meaning | null): boolean {
  return one !== null && other !== null && isFinal(one) && isFinal(other) && one !== other;
}

/** Events of the fiat leg: their status is half of the way. */
const FIAT_EVENTS: readonly string[] = ['payment.confirmed', 'transaction.deposit.status.updated'];

const ONRAMP_EVENTS = ['transaction.onramp.status.updated', ON_CHAIN_DEPOSIT_EVENT, ...FIAT_EVENTS];

/** Events of an onramp: one word for both legs, and the facts to compare. The lookup decides in any case. */
export function onrampEvent(body: unknown): EventReading | undefined {
  return callbackEvent(body, wordOf, factsOf);
}

function wordOf(fields: CallbackFields, event: string | null): string | null {
  const fiat = statusIn(fields['mobile_money_status']);
  const received = statusIn(fields['crypto_received_status']);
  if (fiat !== null || received !== null) return onrampWord({ fiat, crypto: null, received });
  const status = fields.status ?? null;
  return status !== null && FIAT_EVENTS.includes(event ?? '') ? `FIAT_${status}` : status;
}

/** `amount` is the fiat's in the one event whose shape the interface shows; in other events it may be anything. */
function factsOf(fields: CallbackFields, event: string | null): EventReading['facts'] {
  const fiatAmount = fields.fiatAmount ?? (event === ON_CHAIN_DEPOSIT_EVENT ? fields.amount : undefined);
  const asset = assetFacts(fields);
  if (fiatAmount === undefined) return asset;
  return { ...asset, fiatAmount, ...(fields.currency === undefined ? {} : { currency: fields.currency }) };
}

/**
 * Input of an `onramp`: the body of the operation, the amount as a decimal string or number. Mobile money, bank
 * checkout, both or neither: all are seen on the wire (`docs/assumptions.md`).
 */
export const OnrampInput = OnrampRequest.omit({ callbackUrl: true })
  .extend({
    referenceId: callerReference(),
    fiatAmount: decimalAmount(),
    mobileMoney: OnrampMobileMoney.extend({ phoneNumber: phoneNumber() }).optional(),
    bankCheckout: OnrampBankCheckout.extend({ phoneNumber: phoneNumber() }).optional(),
    ...commonInput,
  })
  .superRefine(fitsCurrency('fiatAmount', 'currency'));
export type OnrampInput = z.infer<typeof OnrampInput>;

export const onrampFlow = defineFlow({
  kind: 'onramp',
  input: OnrampInput,
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, rateId: _rate, ...decided }) => decided,
  summaryOf: (input) => `Onramp: ${input.fiatAmount} ${input.currency} → ${input.token} on ${input.chain}`,
  moneyOf: ({ fiatAmount, currency }) => ({ amount: fiatAmount, currency, member: 'fiatAmount' }),
  termsOf: (input) =>
    terms({
      sends: { amount: input.fiatAmount, currency: input.currency },
      receives: { amount: null, currency: input.token },
      payer: input.mobileMoney?.phoneNumber ?? input.bankCheckout?.phoneNumber,
      recipient: input.receiverAddress,
      network: input.chain,
    }),
  submissions: {
    create: {
      operation: 'createOnramp',
      decidedBy: (input) => {
        const { rateId: _rate, ...decided } = bodyOf(input);
        return decided;
      },
      request: (input, { callbackUrl }) => ({
        ...bodyOf(input),
        fiatAmount: toWireNumber(input.fiatAmount),
        callbackUrl,
      }),
      factsOf: ({ referenceId, fiatAmount, currency, receiverAddress, chain, token }) => ({
        fiatReference: referenceId,
        onChainReference: referenceId,
        fiatAmount,
        currency,
        receiverAddress: plainAddress(receiverAddress),
        chain,
        token,
      }),
    },
  },
  status: LEGS_LOOKUP,
  webhooks: ONRAMP_EVENTS,
  carriesOut: { createOnramp: asItIs },
  reads: LEGS_READS,
  readEvent: onrampEvent,
  demo: {
    name: 'onramp',
    title: 'its answer is lost after it was executed',
    expected: 'completed',
    executes: { createOnramp: 1 },
    fault: { operation: 'createOnramp', kind: 'answer-lost', executed: true },
  },
  docs: {
    story: 'create (the redirect URL is in the answer) → fiat in → crypto out',
    learns: '`getOnChainDeposit`, `getMobileMoneyDeposit`, from 45 s on, or at once when an event hints',
    guaranteed:
      'a failed payment ends it with nothing collected; if the crypto fails after the fiat was collected, the flow does not fail',
    atDeadline: ['no_settlement'],
    parks: '`crypto_leg_failed`',
  },
});

/** Both legs, of an onramp that ended well. */
function saysLegs(...[state, reference]: Parameters<SaidByFlow>): ReturnType<SaidByFlow> {
  const leg = saysStatus('reference_id', { completed: 'SUCCESSFUL' })(state, reference);
  if (leg === undefined) return undefined;
  return { mobile_money: leg, onchain: { ...leg, crypto_received_status: leg['status'] } };
}

/** The body of the operation without the callback URL, which is ours. */
function bodyOf({ callbackUrl: _url, deadlineSeconds: _deadline, timeScale: _scale, ...body }: OnrampInput) {
  return body;
}
