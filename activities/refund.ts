import { Context } from '@temporalio/activity';
import type { Chain, Token } from '../src/contract/vocabulary.js';
import { systemClock } from '../src/clock.js';
import { plainAddress } from '../src/readers/hash.js';
import {
  INVOICE_FAULTS,
  type InvoiceFault,
  MAIN_NETWORK,
  readLightningInvoice,
} from '../src/readers/lightning-invoice.js';
import { UPDATES } from '../src/protocol/vocabulary.js';
import { fingerprintOf } from '../src/store/store-key.js';
import { compareAmounts, toWireNumber, sameAmount } from '../src/money.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../src/service-client/index.js';
import type { ClaimRef, HandOver, RefundOrder, SubmitOutcome } from './types.js';
import type { ActivityDeps } from './deps.js';
import { requireOwnDeployment } from './claims.js';
import { storing } from './failures.js';
import { sendTimer } from './timing.js';
import { lookUpPost } from './settle-unknown.js';
import { submitUnderClaim } from './submit-under-claim.js';

/**
 * Longest time from the flow's decision to the first byte, ms: what it had looked up may have changed since, and later it
 * decides anew. Not shorter at another scale of time: workers take as long as they take.
 */
const DECIDED_WITHIN_MS = 300_000;

export function createRefundActivities(deps: ActivityDeps) {
  return {
    /** Sends a refund by `sendCrypto`, under the claim of `{reference}.refund`. */
    async submitRefund(order: RefundOrder): Promise<{ outcome: SubmitOutcome; fingerprint: string }> {
      const {
        flowId,
        by,
        reviewedEventIds,
        unasked,
        pin,
        reference,
        receiverAddress,
        chain,
        token,
        cryptoAmount,
        timeScale = 1,
        mostMs,
      } = order;
      // Not the amount: less may be due than when the claim was reserved. What may have been sent is looked up with it.
      const decided = { receiverAddress, chain, token };
      const fingerprint = fingerprintOf(deps.store, 'refund', decided);
      const claim = { operation: 'sendCrypto', reference, flowId, fingerprint, pin };
      const { clock = systemClock } = deps;
      const { scheduledTimestampMs } = Context.current().info;
      const outcome = await submitUnderClaim(deps, {
        claim,
        // Any event may say that it was refunded, or that less came in.
        guard: { flowId, orUntrusted: by === 'input', besides: reviewedEventIds },
        lookUp: () =>
          lookUpPost(deps, {
            claim,
            expect: { ...decided, receiverAddress: plainAddress(receiverAddress), cryptoAmount },
            saidToExist: false,
          }),
        ...(unasked && { unasked }),
        timeScale,
        stillValid: () => clock.nowMs() < scheduledTimestampMs + DECIDED_WITHIN_MS,
        request: () => ({
          receiverAddress,
          chain: chain as Chain,
          token: token as Token,
          cryptoAmount: toWireNumber(cryptoAmount),
          referenceId: reference,
        }),
        send: (request, options) => deps.service.sendCrypto(request, { ...options, mostMs }),
      });
      return { outcome, fingerprint };
    },
  };
}

export interface HandOverOrder {
  /** Of the offramp. */
  readonly claim: ClaimRef;
  readonly invoice: string;
  readonly paymentHash: string;
  readonly amountMsat: string;
  readonly expiresAt: string;
}

/** Longest time from the start of an attempt to the first byte. */
const HAND_OVER_WITHIN_MS = 10_000;

/** Undefined: an error that is not the service's. */
function handOverSays(error: unknown): HandOver['says'] | undefined {
  if (error instanceof NotSentError || error instanceof TurnedAwayError) return 'not-sent';
  if (error instanceof RejectedError || error instanceof InvalidRequestError) return 'refused';
  return error instanceof UnknownOutcomeError || error instanceof DuplicateReferenceError ? 'unknown' : undefined;
}

export interface RefundInvoiceQuestion {
  readonly flowId: string;
  readonly invoice: string;
  /** The amount to refund, in thousandths of a satoshi; null if it is not known. */
  readonly dueMsat: string | null;
  /** What came in, likewise: no more is sent back. */
  readonly mostMsat: string | null;
  /** Payment hashes of the invoices that this run was given, and that were not handed over. */
  readonly given: readonly string[];
}

export type RefundInvoiceVerdict =
  | {
      readonly kind: 'good';
      readonly amountMsat: string;
      readonly paymentHash: string;
      /** Public key of the node that signed it, and is paid. */
      readonly payee: string;
      readonly expiresAt: string;
      /** Until it expires, by this worker's clock, ms. */
      readonly lifeMs: number;
    }
  /** What is wrong, for programs, and as a sentence for the person who gave it. */
  | { readonly kind: 'bad'; readonly code: RefundInvoiceProblem; readonly problem: string };

export type RefundInvoiceProblem =
  | InvoiceFault
  | 'test-network'
  | 'no-amount'
  | 'amount-differs'
  | 'amount-unknown'
  | 'more-than-came-in'
  | 'expires-soon'
  | 'expires-late'
  | 'other-debt'
  | 'another-payable'
  | 'not-checked';

/** Until it expires, a person has to hand it over and the service has to pay it. */
const LEAST_LIFE_MINUTES = 10;
/** One that was made in the future would keep its flow open for as long. */
const LONGEST_LIFE_MS = 365 * 86_400_000;

export function createRefundInvoiceActivities(deps: ActivityDeps) {
  const { account, store, serviceIsOnLoopback, clock = systemClock } = deps;
  return {
    /** Hands a checked invoice to the service, by an operation that the live one alone has. Called with one attempt only. */
    async handOverRefundInvoice(order: HandOverOrder): Promise<HandOver> {
      const { claim, invoice, paymentHash, amountMsat, expiresAt } = order;
      await requireOwnDeployment(deps, claim);
      // A suspended attempt was given up meanwhile: the invoice counts as handed over until it expires.
      const stillValid = sendTimer(deps, HAND_OVER_WITHIN_MS);
      try {
        await deps.service.submitRefundInvoice(
          {
            referenceId: claim.reference,
            bolt11: invoice,
            payment_hash: paymentHash,
            amount_msat: toWireNumber(amountMsat),
            expires_at: expiresAt,
          },
          { stillValid },
        );
        return { says: 'taken', why: null };
      } catch (error) {
        const says = handOverSays(error);
        if (says === undefined) throw error;
        return { says, why: error instanceof Error ? error.message : null };
      }
    },

    /**
     * Reads a Lightning invoice and checks it against the refund: its network, its amount, its expiry; a good one is from
     * then on the invoice of this flow's refund alone.
     */
    async checkRefundInvoice(question: RefundInvoiceQuestion): Promise<RefundInvoiceVerdict> {
      const verdict = verdictOrFault(question);
      if (verdict.kind === 'bad') return verdict;
      const debt = { account, operation: UPDATES.provideRefundInvoice, reference: question.flowId };
      const { paymentHash } = verdict;
      const untilMs = clock.nowMs() + verdict.lifeMs;
      const taken = await storing(() => store.debts.takePayable(paymentHash, debt, untilMs, question.given));
      switch (taken.kind) {
        case 'taken':
          return verdict;
        case 'other-debt':
          return bad('other-debt', 'It is used for another payment already, and can be paid only once.');
        case 'blocked': {
          const until = new Date(taken.untilMs).toISOString();
          return bad('another-payable', `An earlier run of the flow was given one that can be paid until ${until}.`);
        }
        default:
          return taken satisfies never;
      }
    },
  };

  /** It asks nothing outside, so an error would come again at every retry: it is a verdict. */
  function verdictOrFault(question: RefundInvoiceQuestion): RefundInvoiceVerdict {
    try {
      return verdictOn(question);
    } catch {
      return bad('not-checked', 'It cannot be checked against the refund: an amount cannot be read.');
    }
  }

  function verdictOn({ invoice, dueMsat, mostMsat }: RefundInvoiceQuestion): RefundInvoiceVerdict {
    const read = readLightningInvoice(invoice);
    if (typeof read === 'string') return bad(read, INVOICE_FAULTS[read]);
    const { network, amountMsat, paymentHash, payee, expiresAtMs } = read;
    if (network !== MAIN_NETWORK && !serviceIsOnLoopback)
      return bad('test-network', 'It is an invoice of a test network.');
    if (amountMsat === null) return bad('no-amount', 'It names no amount: the payer could pay anything.');
    if (dueMsat !== null && !sameAmount(amountMsat, dueMsat)) {
      return bad('amount-differs', `It is over ${amountMsat} msat, and the refund is ${dueMsat} msat.`);
    }
    if (dueMsat === null && mostMsat === null) {
      return bad('amount-unknown', 'It cannot be checked: how much is due is not known, nor how much came in.');
    }
    if (mostMsat !== null && compareAmounts(amountMsat, mostMsat) > 0) {
      return bad('more-than-came-in', `It is over ${amountMsat} msat, and ${mostMsat} msat came in.`);
    }
    const lifeMs = expiresAtMs - clock.nowMs();
    if (lifeMs < LEAST_LIFE_MINUTES * 60_000) {
      return bad('expires-soon', `It expires too soon: it must be good for ${LEAST_LIFE_MINUTES} minutes at least.`);
    }
    if (lifeMs > LONGEST_LIFE_MS) return bad('expires-late', 'It expires more than a year from now.');
    return { kind: 'good', amountMsat, paymentHash, payee, expiresAt: new Date(expiresAtMs).toISOString(), lifeMs };
  }
}

const bad = (code: RefundInvoiceProblem, problem: string): RefundInvoiceVerdict => ({ kind: 'bad', code, problem });
