import { Context } from '@temporalio/activity';
import type { BridgeDepositRequest } from '../src/contract/bridge.js';
import { QUOTE_LIFE_MS, quoteLifeMs } from '../src/flows/quote-life.js';
import { BRIDGE_STATUSES } from '../src/contract/vocabulary.js';
import { RejectedError } from '../src/client/index.js';
import { bridgeTransferFlow, type BridgeTransferInput } from '../src/flows/bridge-transfer.js';
import { callbackCapability, callbackUrl } from '../src/flows/capability.js';
import { fromWireNumber, sameAmount, toWireNumber } from '../src/money.js';
import type { BridgeDepositOrder, BridgePreparation, ReportOutcome, SettlementReportOrder } from './bridge-terms.js';
import { checkInput } from './check-input.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow, reading } from './failures.js';
import { withHeartbeat } from './heartbeat.js';
import type { Quote, SubmitOutcome } from './outcomes.js';
import { pinOf } from './pin.js';
import { reportSettlement } from './report-settlement.js';
import { submitUnderClaim } from './submit-under-claim.js';
import { windowsOf } from './windows.js';

export function createBridgeActivities(deps: ActivityDeps) {
  return {
    /** Checks the input as the gateway did (other clients may not have), and gets the first quote. */
    async prepareBridgeTransfer(order: { flowId: string; input: unknown }): Promise<BridgePreparation> {
      const { input, fingerprint } = checkInput(deps, bridgeTransferFlow, order.flowId, order.input);
      return {
        input,
        fingerprint,
        quote: input.rate_id === undefined ? await quote(deps, input) : await broughtQuote(deps, input, input.rate_id),
        pin: await pinOf(deps),
        windows: windowsOf(deps),
        allowPlaintext: deps.allowPlaintext,
      };
    },

    quoteBridgeTransfer: (order: { input: BridgeTransferInput }): Promise<Quote> => quote(deps, order.input),

    /** One deposit under its claim, inside the life of its quote. */
    submitBridgeDeposit(order: BridgeDepositOrder): Promise<SubmitOutcome> {
      const { flowId, fingerprint, pin, input } = order;
      const reference = input.provider_reference_id;
      return withHeartbeat(deps.clock, () =>
        submitUnderClaim(deps, {
          claim: { operation: 'createBridgeDeposit', reference, flowId, fingerprint, pin },
          stillValid: quoteTimer(deps, order),
          quotesAgain: true,
          // A trusted event about this transfer means that the service has it already.
          guard: { flowId, statuses: BRIDGE_STATUSES },
          request: () => depositRequest(deps, order),
          send: (request, options) => deps.service.createBridgeDeposit(request, options),
        }),
      );
    },

    reportSettlement: (order: SettlementReportOrder): Promise<ReportOutcome> => reportSettlement(deps, order),
  };
}

async function quote(deps: ActivityDeps, input: BridgeTransferInput): Promise<Quote> {
  const answer = await reading(() =>
    deps.service.quoteBridge({
      source_currency: input.source_currency as never,
      source_amount: toWireNumber(input.amount),
      crypto_chain: input.chain,
      crypto_token: input.token,
    }),
  );
  if (answer instanceof RejectedError) {
    throw endsFlow('quote_rejected', `The service gave no quote (${answer.httpStatus}): ${answer.message}`);
  }
  return {
    rateId: answer.rate_id,
    cryptoAmount: answer.crypto_amount == null ? null : fromWireNumber(answer.crypto_amount),
    cryptoUnit: answer.crypto_unit ?? null,
    lifeMs: quoteLifeMs(answer),
  };
}

/**
 * The quote that the caller brought. Where it passed through a gateway of ours: with the life that is left of it, and with
 * its figures, where they are about this deposit. Else nothing is known of it, and it may just have been made.
 */
async function broughtQuote(deps: ActivityDeps, input: BridgeTransferInput, rateId: string): Promise<Quote> {
  const found = await reading(() => deps.store.quotes.recall(deps.account, rateId));
  if (found === undefined || found instanceof RejectedError) {
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
 * The quote's life is a duration: workflow time to the scheduling of this attempt by the Temporal server's clock, and
 * from its start by our monotonic one. The wait for a worker in between is in the margin. No wall clock of ours counts.
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
    callback_url: callbackUrl(deps.publicUrl, flowId, callbackCapability(deps.store, flowId)),
    rate_id: order.rateId,
    ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
  };
}
