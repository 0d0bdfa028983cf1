import { ActivityFailure, ApplicationFailure, sleep, TimeoutFailure } from '@temporalio/workflow';
import type { Quote, SubmitOutcome, BridgeDepositAnswer, ClaimRef } from '../../activities/types.js';
import type { BridgeDeposit } from '../../src/contract/bridge.js';
import type { CauseCode } from '../../src/protocol/causes.js';
import type { BridgeStatus } from '../../src/contract/vocabulary.js';
import type { OtherRecord } from '../../src/flows/echoes.js';
import { readCode } from '../../src/readers/code.js';
import { durationMs } from '../../src/readers/time.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { classifyOfAnyKind } from '../../src/protocol/statuses.js';
import { act } from '../engine/activities.js';
import { decideMismatch, reviewedEvents, trustedSay } from '../engine/evidence.js';
import { endFlow, endFromDecision } from '../engine/flow-end.js';
import { askPerson } from '../engine/park.js';
import type { Flow } from '../engine/flow.js';
import {
  LONGEST_REFUND_LIFE_MS,
  MAX_REQUOTES,
  QUOTE_MARGIN_MS,
  QUOTED_SUBMIT,
  READ,
  submitPolicy,
  UNTAKEN_PAUSE_MOST_MS,
  UNTAKEN_PAUSE_MS,
  UNREAD_REFUND_LIFE_MS,
} from '../engine/policies.js';
import {
  askForEnd,
  endVoid,
  holdBack,
  submitUntilDeadline,
  unlessStopping,
  VETOED,
  voidUnsent,
} from '../engine/stop.js';
import { submit } from '../engine/submit.js';
import { quoteInWords, showQuote, whyWorse } from './prepare.js';
import { depositClaim, handleTransferEvents, rulesOf, type Transfer } from './transfer.js';
import type { Post } from '../engine/post.js';

/**
 * Makes the deposit: one POST under one claim, within the life of a quote. Returns when the service is known to have it
 * (by its answer, by the claim, or by a trusted event); every other result ends the flow.
 */
export async function makeDeposit(flow: Flow, transfer: Transfer): Promise<void> {
  flow.enter('depositing', 'sending', 'sending the deposit');
  const submitted = await submit(flow, postOf(flow, transfer));
  switch (submitted.kind) {
    case 'accepted':
      return submitted.other === undefined
        ? accepted(flow, transfer, submitted.answer as BridgeDeposit | null | undefined)
        : decideOtherDeposit(flow, transfer, submitted.other);
    case 'proven':
      flow.answer = { kind: 'none', reason: 'proven by an event, the answer itself was lost' };
      return flow.enter('tracking', 'proven', 'a trusted event proves that the service has the deposit', 'service');
    case 'rejected': {
      if (flow.vetoed(true)) return askForEnd(flow, 'the refusal of the deposit', VETOED, true);
      const { httpStatus, message, code } = submitted.rejection;
      flow.answer = { kind: 'rejected', httpStatus, message, code: code ?? null };
      return endFlow('failed', 'rejected_by_service', `The service refused the deposit (${httpStatus}): ${message}`);
    }
    case 'other-request':
      return endFlow('failed', 'other_request_same_reference', submitted.why);
    case 'void':
      return endVoid(flow, `The deposit was given up before (${submitted.why}); nothing was sent.`);
    default:
      return submitted satisfies never;
  }
}

/** @param answer undefined: the claim says that it was made, and its answer was erased; null: none ever came */
function accepted(flow: Flow, transfer: Transfer, answer: BridgeDeposit | null | undefined): void {
  transfer.deposit = answer == null ? null : depositAnswerOf(answer);
  flow.serviceReference = answer?.kotani_reference_id ?? null;
  transfer.proven = true;
  flow.answer = { kind: 'accepted', answer };
  flow.enter('tracking', 'accepted', `deposit accepted (${answer?.status ?? 'its answer is not known'})`, 'service');
  handleTransferEvents(flow, transfer);
}

/** A service that answers a repeated reference with its first result accepts what it never executes. */
async function decideOtherDeposit(flow: Flow, transfer: Transfer, other: OtherRecord): Promise<never> {
  handleTransferEvents(flow, transfer);
  flow.answer = { kind: 'none', reason: 'conflict' };
  // Events of that deposit come under our reference, too: what they prove is shown, and proves nothing about ours.
  let shown: readonly BridgeStatus[] = [];
  const unseen = () => transfer.statuses.seen.filter((status) => !shown.includes(status));
  flow.proven = () => unseen().map(classifyOfAnyKind);
  const evidence = () => {
    shown = transfer.statuses.seen;
    return {
      why: 'the deposit that the service has under this reference is another one',
      code: 'other_record' satisfies CauseCode,
      ...other,
      reported: shown,
    };
  };
  return endFromDecision(await askPerson(flow, 'conflict', evidence));
}

function postOf(flow: Flow, transfer: Transfer): Post {
  const claim = depositClaim(flow, transfer);
  let requotes = 0;
  let untaken = 0;
  return {
    claim,
    noun: 'the deposit',
    async send() {
      const outcome = await depositOnce(flow, transfer);
      untaken = outcome === NOT_TAKEN ? untaken + 1 : 0;
      return outcome;
    },
    async prepareAgain(because) {
      if (untaken > 0) await pauseUntaken(flow, claim, untaken);
      else requotes = because === 'ordered' ? 0 : requotes + 1;
      const tooOften = requotes > MAX_REQUOTES ? 'Every quote expired before it could be used' : null;
      return quoteAgain(flow, transfer, claim, tooOften);
    },
    settleMs: transfer.windows.settleMs,
    expect: {},
    fixed: transfer.fixed,
    trusted: () => trustedSay(transfer),
    claimed: () => transfer.unverified.length > 0,
    readEvents: () => handleTransferEvents(flow, transfer),
    decideOther: () => decideMismatch(flow, transfer, rulesOf(flow, transfer)),
  };
}

async function depositOnce(flow: Flow, transfer: Transfer): Promise<SubmitOutcome> {
  const { quote } = transfer;
  const policy = submitPolicy(QUOTED_SUBMIT, transfer.windows);
  try {
    // Bounded by the deadline, by submitUntilDeadline around Post.send.
    return await act(policy, 'Send the deposit, under its claim', flow.timeScale).submitBridgeDeposit({
      flowId: flow.flowId,
      fingerprint: transfer.fingerprint,
      pin: transfer.pin,
      input: transfer.input,
      rateId: quote.rateId,
      quotedAtMs: quote.quotedAtMs,
      usableMs: quote.lifeMs - QUOTE_MARGIN_MS,
      reviewedEventIds: reviewedEvents(flow, transfer),
      mostMs: transfer.windows.postMs,
    });
  } catch (error) {
    // No worker took it in time. An earlier attempt may have sent: the next submit reads the claim, as always.
    if (error instanceof ActivityFailure && isScheduleToStart(error.cause)) return NOT_TAKEN;
    throw error;
  }
}

const NOT_TAKEN: SubmitOutcome = { kind: 'quote-expired' };

/**
 * Money is stopped, or its queue is behind: that is no reason to fail. The flow gets new quotes until the deadline,
 * ever more slowly.
 */
async function pauseUntaken(flow: Flow, claim: ClaimRef, untaken: number): Promise<void> {
  if (untaken === 1)
    flow.note('not-sent', 'no worker took the deposit while its quote was young: money is stopped, or is behind');
  const pauseMs = Math.min(UNTAKEN_PAUSE_MS * 2 ** (untaken - 1), UNTAKEN_PAUSE_MOST_MS);
  await submitUntilDeadline(flow, claim, () => sleep(flow.scaled(pauseMs), { summary: 'Wait for a worker' }));
}

function isScheduleToStart(cause: unknown): boolean {
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}

/** A new quote must not give less crypto than the agreed one by more than the caller's limit. Better is always welcome. */
async function quoteAgain(
  flow: Flow,
  transfer: Transfer,
  claim: ClaimRef,
  tooOften: string | null,
): Promise<SubmitOutcome | null> {
  const { agreed, input } = transfer;
  if (tooOften !== null) return noQuote(flow, claim, tooOften);
  if (agreed.cryptoAmount === null) {
    return noQuote(flow, claim, 'The rate_id is no longer valid, and the figures behind it are not known here');
  }
  const quotedAtMs = Date.now();
  const quote = await newQuote(flow, claim, input);
  if (typeof quote === 'string') return noQuote(flow, claim, quote);
  const worse = whyWorse(agreed, quote, input.maxSlippageBps);
  if (worse !== null) return noQuote(flow, claim, worse);
  transfer.quote = { ...quote, quotedAtMs };
  showQuote(flow, transfer.quote);
  flow.note('quoted', `quoted again, ${quoteInWords(transfer.quote)}`);
  return null;
}

/** Or why there is none: that alone does not end the flow, because an earlier send may have been executed. */
async function newQuote(flow: Flow, claim: ClaimRef, input: Transfer['input']): Promise<Quote | string> {
  try {
    const quote = await submitUntilDeadline(flow, claim, () =>
      act(READ, 'Get a new quote', flow.timeScale).quoteBridgeTransfer({ input }),
    );
    return quote ?? 'There was no new quote by the deadline';
  } catch (error) {
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) return refusal.message;
    throw error;
  }
}

/**
 * No usable quote. If nothing was ever sent, the claim is voided and the flow ends; only then is it true that nothing
 * moved. Otherwise the claim and a person decide.
 */
async function noQuote(flow: Flow, claim: ClaimRef, why: string): Promise<SubmitOutcome> {
  if (flow.money.at !== 'sent' && (await voidUnsent(flow, claim, 'quote_rejected')) === true) {
    await unlessStopping(flow);
    return endFlow('failed', 'quote_rejected', `${why}. Nothing was moved.`);
  }
  await unlessStopping(flow);
  // A send that a person ordered is cancelled: without a quote there is none.
  if (flow.money.at === 'sent') await holdBack(flow, claim, { actor: 'flow', note: why });
  return { kind: 'unknown', reason: why, repeat: 'unknown' };
}

/** The members of the service's answer to a deposit that the flow needs. Missing members are null. */
export function depositAnswerOf(data: BridgeDeposit): BridgeDepositAnswer {
  const refund = data.refund_config;
  return {
    serviceReference: data.kotani_reference_id,
    status: data.status,
    paymentHash: data.payment_hash ?? null,
    refund:
      refund == null
        ? null
        : {
            method: codeIn(refund.primary_method),
            fallbackMethod: codeIn(refund.fallback_method),
            fallbackAddress: refund.fallback_address?.trim() ?? null,
            chain: codeIn(refund.chain),
            token: codeIn(refund.token),
            cryptoAmount: refund.refund_crypto_amount ?? null,
            lifeMs: refundLifeMs(data.created_at, refund.expires_at),
          },
  };
}

/** Null if the answer has none; what it has and cannot be read is none of ours. */
const codeIn = (said: string | null | undefined): string | null =>
  said == null || said.trim() === '' ? null : (readCode(said) ?? UNREADABLE);

/**
 * A duration between two timestamps of the service's clock: ours does not matter. Null if the service names no end; one
 * that cannot be read may be far away.
 */
export function refundLifeMs(created: string | null | undefined, expires: string | null | undefined): number | null {
  if (expires === undefined || expires === null || expires === '') return null;
  const lifeMs = durationMs(created, expires) ?? 0;
  return lifeMs > 0 ? Math.min(lifeMs, LONGEST_REFUND_LIFE_MS) : UNREAD_REFUND_LIFE_MS;
}
