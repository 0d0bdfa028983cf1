import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { BridgeDepositRequest, BridgeQuote, SettlementReport } from '../src/contract/bridge.js';
import {
  QUOTE_LIFE_MS,
  quoteLifeMs,
  quoteUnit,
  bridgeTransferFlow,
  type BridgeTransferInput,
} from '../src/flows/bridge-transfer.js';
import { RejectedError, InvalidRequestError } from '../src/service-client/index.js';
import { ownCallbackUrl } from '../src/flows/capability.js';
import { sameAmount, toWireNumber } from '../src/money.js';
import { fixedBy } from '../src/flows/echoes.js';
import { needsSecondPerson } from '../src/flows/four-eyes.js';
import { decidedAmounts } from '../src/flows/largest-amount.js';
import { fieldsOf } from '../src/flows/callback.js';
import { readCode } from '../src/readers/code.js';
import { readTime } from '../src/readers/time.js';
import { rowIdOf } from '../src/flows/event-of-row.js';
import { openedIdOf } from '../src/protocol/events.js';
import { APPROVE_QUOTE } from '../src/protocol/four-eyes.js';
import type {
  BridgeDepositOrder,
  FlowPreparation,
  PreparationOrder,
  ReportOutcome,
  SettlementReportOrder,
  Quote,
  SubmitOutcome,
} from './types.js';
import { checkInput, recordForeignStart, takeEarlyEvents, timeScaleOf } from './flow-steps.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow, reading, retryLater, storing, withFallback } from './failures.js';
import { windowsOf, elapsedMs, sendTimer } from './timing.js';
import { pinFor } from './claims.js';
import { checkedClaims, type FlowChecked } from './engine-steps.js';
import { refundReferenceOf } from '../src/protocol/vocabulary.js';
import { lookUpPost } from './settle-unknown.js';
import { submitUnderClaim } from './submit-under-claim.js';

/**
 * Most first quotes that a worker requests within workflow tasks at a time. Each occupies a task slot during the
 * request, and a hanging service must not take the slots of all other flows.
 */
const MOST_LOCAL_QUOTES = 8;

export function createBridgeActivities(deps: ActivityDeps) {
  let localQuotes = 0;
  const firstQuote = async (input: BridgeTransferInput): Promise<Quote> => {
    if (!Context.current().info.isLocal) return quote(deps, input);
    if (localQuotes >= MOST_LOCAL_QUOTES) throw retryLater('busy', 'the ordinary activity asks for this quote');
    localQuotes += 1;
    return quote(deps, input).finally(() => (localQuotes -= 1));
  };

  const prepare = async (order: PreparationOrder): Promise<FlowPreparation & { readonly quote: Quote }> => {
    const { flowId } = order;
    const { input, fingerprint } = checkInput(deps, bridgeTransferFlow, flowId, order.input);
    await recordForeignStart(deps, bridgeTransferFlow, order, { input, fingerprint });
    await takeEarlyEvents(deps, flowId);
    const quote =
      input.rate_id === undefined ? await firstQuote(input) : await broughtQuote(deps, input, input.rate_id);
    const reference = input.provider_reference_id;
    const pin = await pinFor(deps, order);
    const deposit = { operation: 'createBridgeDeposit', reference, flowId, fingerprint, pin };
    // How much is refunded is not decided yet.
    const refund = { ...deposit, operation: 'sendCrypto', reference: refundReferenceOf(reference), fingerprint: '' };
    return {
      input: withApproval(deps, input),
      fingerprint,
      quote,
      pin,
      steps: {
        deposit: { claim: deposit, facts: {}, fixed: fixedBy('createBridgeDeposit', input) },
        refund: { claim: refund, facts: {}, fixed: {} },
      },
      ...(bridgeTransferFlow.termsOf && { terms: bridgeTransferFlow.termsOf(input) }),
      windows: windowsOf(deps),
      allowPlaintext: deps.allowPlaintext,
    };
  };

  return {
    /**
     * Checks the input again, since another client than the gateway may have started the flow; gets the first quote.
     */
    checkBridgeTransfer: (order: PreparationOrder): Promise<FlowChecked & { readonly quote: Quote }> =>
      withFallback(async () => {
        const { quote, ...prepared } = await prepare(order);
        return { ...(await checkedClaims(deps, order, prepared)), quote };
      }),

    quoteBridgeTransfer: (order: { input: BridgeTransferInput }): Promise<Quote> => quote(deps, order.input),

    /** One deposit under its claim, inside the life of its quote. */
    submitBridgeDeposit(order: BridgeDepositOrder): Promise<SubmitOutcome> {
      const { flowId, fingerprint, pin, input, expect, unasked, reviewedEventIds, mostMs } = order;
      const reference = input.provider_reference_id;
      const claim = { operation: 'createBridgeDeposit', reference, flowId, fingerprint, pin };
      return submitUnderClaim(deps, {
        claim,
        ...(expect !== undefined && { lookUp: () => lookUpPost(deps, { claim, expect, saidToExist: false }) }),
        ...(unasked && { unasked }),
        stillValid: quoteTimer(deps, order),
        timeScale: timeScaleOf(input),
        // A trusted event about this transfer means that the service has it already.
        guard: { flowId, besides: reviewedEventIds },
        request: () => depositRequest(deps, order),
        send: (request, options) => deps.service.createBridgeDeposit(request, { ...options, mostMs }),
      });
    },

    reportSettlement: (order: SettlementReportOrder): Promise<ReportOutcome> => reportSettlement(deps, order),
  };
}

/** Above `FOUR_EYES_ABOVE` the quote needs an approval, from every starter, also if its input asks for none. */
function withApproval({ fourEyes }: ActivityDeps, input: BridgeTransferInput): BridgeTransferInput {
  const amounts = decidedAmounts(bridgeTransferFlow, input);
  const isRequired = fourEyes !== undefined && needsSecondPerson(fourEyes, APPROVE_QUOTE, amounts);
  return isRequired ? { ...input, approval: 'required' } : input;
}

async function quote(deps: ActivityDeps, input: BridgeTransferInput): Promise<Quote> {
  const answer = await reading(() =>
    deps.service.quoteBridge({
      source_currency: input.source_currency,
      source_amount: toWireNumber(input.amount),
      crypto_chain: input.chain,
      crypto_token: input.token,
    }),
  );
  if (answer instanceof RejectedError) {
    throw endsFlow('quote_rejected', `The service gave no quote (${answer.httpStatus}): ${answer.message}`);
  }
  const fee = feeInWords(answer.fees);
  return {
    rateId: answer.rate_id,
    cryptoAmount: answer.crypto_amount ?? null,
    cryptoUnit: quoteUnit(answer),
    lifeMs: quoteLifeMs(answer),
    ...(fee !== '' && { fee }),
  };
}

function feeInWords(fees: BridgeQuote['fees']): string {
  const { fiat_fee: fiat, fiat_fee_currency: currency, crypto_fee: crypto, crypto_fee_unit: unit } = fees ?? {};
  const given = [
    [fiat, readCode(currency)],
    [crypto, readCode(unit)],
  ].filter(([amount]) => amount != null);
  const percent = fees?.fee_percentage == null ? [] : [`${fees.fee_percentage} %`];
  return [...given.map(([amount, of]) => [amount, of].filter(Boolean).join(' ')), ...percent].join(', ');
}

/**
 * The quote that the caller gave. If it passed through a gateway of ours, the store knows its remaining life and, if
 * they are about this deposit, its figures. Otherwise nothing is known of it, and it may have just been made.
 */
async function broughtQuote(deps: ActivityDeps, input: BridgeTransferInput, rateId: string): Promise<Quote> {
  const found = await storing(() => deps.store.quotes.recall(deps.account, rateId));
  if (found === undefined) {
    return { rateId, cryptoAmount: null, cryptoUnit: null, lifeMs: QUOTE_LIFE_MS };
  }
  const isAboutThis =
    sameAmount(found.sourceAmount, input.amount) &&
    found.sourceCurrency === input.source_currency &&
    found.chain === input.chain &&
    found.token === input.token;
  return {
    rateId,
    cryptoAmount: isAboutThis ? found.cryptoAmount : null,
    cryptoUnit: isAboutThis ? found.cryptoUnit : null,
    lifeMs: Math.max(0, Math.min(found.lifeMs, QUOTE_LIFE_MS) - found.ageMs),
  };
}

/**
 * The quote's life is a duration: workflow time until this attempt was scheduled (by the Temporal server's clock), and
 * from its start our monotonic clock. The margin covers the wait for a worker in between. Our wall clock is not used.
 */
function quoteTimer(deps: ActivityDeps, order: BridgeDepositOrder): () => boolean {
  const usedMs = Context.current().info.currentAttemptScheduledTimestampMs - order.quotedAtMs;
  const startedMs = deps.monotonicMs();
  return () => usedMs + (deps.monotonicMs() - startedMs) < order.usableMs;
}

function depositRequest(deps: ActivityDeps, order: BridgeDepositOrder): BridgeDepositRequest {
  const { input, flowId } = order;
  const { amount_msat: msat, crypto_amount: crypto, ...payment } = input.crypto_payment;
  return {
    customer_key: input.customer_key,
    provider_reference_id: input.provider_reference_id,
    amount: toWireNumber(input.amount),
    source_currency: input.source_currency,
    wallet_id: input.wallet_id,
    transaction_type: input.transaction_type,
    chain: input.chain,
    token: input.token,
    crypto_payment: {
      ...payment,
      ...(msat === undefined ? {} : { amount_msat: toWireNumber(msat) }),
      ...(crypto === undefined ? {} : { crypto_amount: toWireNumber(crypto) }),
    },
    settlement: { ...input.settlement, amount: toWireNumber(input.settlement.amount) },
    callback_url: ownCallbackUrl(deps, flowId),
    rate_id: order.rateId,
    ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
  };
}

/** Longest time from the start of an attempt to the first byte: the server gives it up when it misses no more heartbeats. */
const REPORT_WITHIN_MS = 10_000;

/**
 * Reports a provider's trusted settlement to the service; the body is read from the inbox. If the report fails, it is
 * tried again or shown to a person. It never ends the flow as failed.
 */
async function reportSettlement(deps: ActivityDeps, order: SettlementReportOrder): Promise<ReportOutcome> {
  try {
    return await reportOnce(deps, order);
  } catch (error) {
    const isOverdue = order.patienceMs !== undefined && elapsedMs() >= order.patienceMs;
    if (!isOverdue || !(error instanceof ApplicationFailure) || error.nonRetryable === true) throw error;
    return { kind: 'not-taken', message: error.message };
  }
}

async function reportOnce(deps: ActivityDeps, order: SettlementReportOrder): Promise<ReportOutcome> {
  // A suspended attempt was given up meanwhile, and another one may have reported a later status.
  const stillValid = sendTimer(deps, REPORT_WITHIN_MS);
  const rowId = rowIdOf(openedIdOf(order.eventId));
  const row = await storing(() => deps.store.inbox.get(rowId));
  if (row === undefined) throw retryLater('store_unavailable', `the event ${rowId} is not in the inbox`);
  // Another worker may have the key.
  if (row.unreadable !== undefined) throw retryLater('unreadable_event', row.unreadable);
  if (row.body === undefined) return refused('The body of the settlement was purged: there is nothing to report.');
  const report = settlementReport(order, fieldsOf(row.body).fields, row.receivedAt);
  if (report.kotani_reference_id === '')
    return refused("The service's own reference is not known: its answer was lost, and the settlement names none.");
  if (report.status !== order.status)
    return refused(
      `The settlement's own status is not ${order.status}, as which it was taken: it cannot be passed on.`,
    );
  const outcome = await reading(() => deps.service.reportSettlement(report, { stillValid }).catch(asResult));
  if (outcome instanceof InvalidRequestError) return refused(outcome.message);
  if (outcome instanceof RejectedError) return refused(outcome.message, outcome.httpStatus);
  return { kind: 'reported' };
}

/** The fault is in the settlement's body, and not in the flow's input. */
function asResult(error: unknown): InvalidRequestError {
  if (error instanceof InvalidRequestError) return error;
  throw error;
}

function refused(message: string, httpStatus: number | null = null): ReportOutcome {
  return { kind: 'refused', httpStatus, message };
}

/** Strict, as everything that we send: a member that cannot be read is left out, and the rest is sent. */
function settlementReport(order: SettlementReportOrder, body: unknown, receivedAt: string): SettlementReport {
  const members: Members = isRecord(body) ? body : {};
  const stamp = readTime(members['timestamp']);
  return {
    webhook_type: textOf(members['webhook_type']) || 'settlement',
    provider_reference_id: order.reference,
    kotani_reference_id: order.serviceReference ?? textOf(members['kotani_reference_id']),
    status: (readCode(members['status']) ?? '') as SettlementReport['status'],
    timestamp: stamp === undefined ? receivedAt : new Date(stamp).toISOString(),
    crypto_payment: isRecord(members['crypto_payment']) ? members['crypto_payment'] : {},
    ...recordsOf(members, ['settlement_details', 'failure_details', 'refund_details', 'metadata']),
  };
}

type Members = Readonly<Record<string, unknown>>;

function recordsOf<Name extends string>(members: Members, names: readonly Name[]): Partial<Record<Name, Members>> {
  const found = names.filter((name) => isRecord(members[name]));
  return Object.fromEntries(found.map((name) => [name, members[name]])) as Partial<Record<Name, Members>>;
}

const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Identifiers may be numbers. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
