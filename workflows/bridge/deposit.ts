import { ActivityFailure, ApplicationFailure, condition, patched, TimeoutFailure } from '@temporalio/workflow';
import type { BridgeDeposit } from '../../src/contract/bridge.js';
import type { Quote, SubmitOutcome } from '../../activities/outcomes.js';
import { PROOF_PATCH } from '../../src/flows/vocabulary.js';
import { compareAmounts, withinBps } from '../../src/money.js';
import { act } from '../steps/activities.js';
import { decideMismatch } from '../steps/evidence.js';
import { endFlow } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { MAX_REQUOTES, QUOTE_MARGIN_MS, QUOTED_SUBMIT, READ, STORE } from '../steps/policies.js';
import { submitUnlessStopped, type GuardedClaim } from '../steps/stop.js';
import { askBeforeAnotherSend, settleUnknown } from '../steps/settle-unknown.js';
import { depositAnswerOf } from './deposit-answer.js';
import { quoteInWords } from './prepare.js';
import { hearTransferEvents, rulesOf, type Transfer } from './transfer.js';

const OPERATION = 'createBridgeDeposit';

/**
 * Makes the deposit: one POST under one claim, inside the life of a quote. Returns when the service is known to have it
 * (by its answer, by the claim, or by a trusted event); every other way ends the flow.
 */
export async function makeDeposit(flow: Flow, transfer: Transfer): Promise<void> {
  const claim: GuardedClaim = {
    operation: OPERATION,
    reference: flow.reference,
    flowId: flow.flowId,
    fingerprint: transfer.fingerprint,
  };
  flow.enter('depositing', 'sending the deposit');
  for (let requotes = 0; ;) {
    if (transfer.proven) return provenByEvent(flow, transfer, claim);
    const outcome = await submitUnlessStopped(flow, claim, () => depositOnce(flow, transfer));
    switch (outcome.kind) {
      case 'accepted':
        return accepted(flow, transfer, claim, outcome.answer as BridgeDeposit, outcome.recorded);
      case 'rejected':
        return rejected(flow, claim, outcome);
      case 'quote-expired':
        requotes += 1;
        if (requotes > MAX_REQUOTES)
          await cannotQuote(flow, transfer, claim, 'Every quote expired before it could be used');
        await quoteAgain(flow, transfer, claim);
        break;
      case 'unknown':
      case 'duplicate': {
        const settled = await settleUnknownDeposit(flow, transfer, claim, outcome);
        if (settled === 'proven') return;
        // A person, or a setting that knows the service, ordered another send: under a new owner, with a fresh quote.
        requotes = 0;
        await quoteAgain(flow, transfer, claim);
        break;
      }
      case 'other-request':
        return endFlow('failed', 'other_request_same_reference', OTHER_REQUEST);
      case 'void':
        return endFlow(
          'failed',
          'not_executed',
          `The deposit was given up before (${outcome.reason}); nothing was sent.`,
        );
      case 'contradicted':
        return provenByEvent(flow, transfer, claim);
      default:
        return outcome satisfies never;
    }
  }
}

const OTHER_REQUEST =
  'Another request was made under this reference before. Nothing was sent for this one; use a new reference.';

async function depositOnce(flow: Flow, transfer: Transfer): Promise<SubmitOutcome> {
  const { quote } = transfer;
  try {
    return await act(QUOTED_SUBMIT, 'Send the deposit, under its claim', flow.timeScale).submitBridgeDeposit({
      flowId: flow.flowId,
      fingerprint: transfer.fingerprint,
      input: transfer.input,
      rateId: quote.rateId,
      quotedAtMs: quote.quotedAtMs,
      usableMs: quote.lifeMs - QUOTE_MARGIN_MS,
    });
  } catch (error) {
    // No worker took it in time. An earlier attempt may have sent: the next submit asks the claim, as always.
    if (error instanceof ActivityFailure && isScheduleToStart(error.cause)) return { kind: 'quote-expired', by: 'us' };
    throw error;
  }
}

function isScheduleToStart(cause: unknown): boolean {
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}

async function accepted(
  flow: Flow,
  transfer: Transfer,
  claim: GuardedClaim,
  answer: BridgeDeposit,
  recorded: boolean,
): Promise<void> {
  flow.money = { at: 'sent' };
  transfer.deposit = depositAnswerOf(answer);
  flow.serviceReference = answer.kotani_reference_id;
  transfer.proven = true;
  flow.answer = { kind: 'accepted', answer };
  flow.enter('tracking', `deposit accepted (${answer.status})`, 'service');
  hearTransferEvents(flow, transfer);
  if (!recorded) await act(STORE, 'Write the answer to its claim', flow.timeScale).recordAnswer({ ...claim, answer });
}

async function rejected(
  flow: Flow,
  claim: GuardedClaim,
  outcome: Extract<SubmitOutcome, { kind: 'rejected' }>,
): Promise<never> {
  const { httpStatus, message, code } = outcome.rejection;
  if (!outcome.recorded) {
    await act(STORE, 'Write the refusal to its claim', flow.timeScale).recordRejection({ ...claim, ...outcome });
  }
  flow.answer = { kind: 'rejected', httpStatus, message, code: code ?? null };
  return endFlow('failed', 'rejected_by_service', `The service refused the deposit (${httpStatus}): ${message}`);
}

/** A new quote must not give less crypto than the agreed one by more than the caller's limit. Better is always welcome. */
async function quoteAgain(flow: Flow, transfer: Transfer, claim: GuardedClaim): Promise<void> {
  const { agreed, input } = transfer;
  while (!transfer.proven) {
    if (agreed?.cryptoAmount == null) {
      await cannotQuote(
        flow,
        transfer,
        claim,
        'The rate_id is no longer valid, and the figures behind it are not known here',
      );
      continue;
    }
    const quotedAtMs = Date.now();
    const quote = await newQuote(flow, claim, input);
    if (typeof quote === 'string') {
      await cannotQuote(flow, transfer, claim, quote);
      continue;
    }
    if (quote.cryptoAmount !== null && withinSlippage(agreed.cryptoAmount, quote.cryptoAmount, input.maxSlippageBps)) {
      transfer.quote = { ...quote, quotedAtMs };
      flow.note(`quoted again, ${quoteInWords(transfer.quote)}`);
      return;
    }
    const limit = `${input.maxSlippageBps / 100} %`;
    const worse = `The new quote (${quote.cryptoAmount}) is worse than ${agreed.cryptoAmount} by more than ${limit}`;
    await cannotQuote(flow, transfer, claim, worse);
  }
}

/** Or why the service gives none: that alone does not end the flow, for an earlier send may have been executed. */
async function newQuote(flow: Flow, claim: GuardedClaim, input: Transfer['input']): Promise<Quote | string> {
  try {
    return await submitUnlessStopped(flow, claim, () =>
      act(READ, 'Get a new quote', flow.timeScale).quoteBridgeTransfer({ input }),
    );
  } catch (error) {
    const refusal = error instanceof ActivityFailure ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.nonRetryable === true) return refusal.message;
    throw error;
  }
}

function withinSlippage(agreed: string, offered: string, limitBps: number): boolean {
  return compareAmounts(offered, agreed) >= 0 || withinBps(offered, limitBps, agreed);
}

/**
 * No usable quote. Where nothing was ever sent, the claim is voided and the flow ends; only then is it true that nothing
 * moved. Where an earlier send is unknown, a person decides. Returns when the deposit is to be tried again, or was proven.
 */
async function cannotQuote(flow: Flow, transfer: Transfer, claim: GuardedClaim, why: string): Promise<void> {
  if (flow.money.at !== 'sent') {
    const phase = await act(STORE, 'Void the claim, if nothing was sent', flow.timeScale).voidClaim({
      ...claim,
      reason: 'quote_rejected',
    });
    if (phase === 'void') return endFlow('failed', 'quote_rejected', `${why}. Nothing was sent.`);
    flow.money = { at: 'sent' };
  }
  flow.enter('outcome-unknown', why);
  hearTransferEvents(flow, transfer);
  await askBeforeAnotherSend(flow, { claim, why, proven: () => transfer.proven });
}

/** A trusted event knew of this deposit before we sent it: so it is not sent. */
async function provenByEvent(flow: Flow, transfer: Transfer, claim: GuardedClaim): Promise<void> {
  flow.money = { at: 'sent' };
  hearTransferEvents(flow, transfer);
  if (!transfer.proven && patched(PROOF_PATCH)) await untilProven(flow, transfer, claim);
  await condition(() => transfer.proven);
  flow.answer = { kind: 'none', reason: 'proven by an event, the answer itself was lost' };
  flow.enter('tracking', 'a trusted event proves that the service has the deposit', 'service');
}

/**
 * The event that holds the deposit back may be about another one under this reference, or be set aside for another flow:
 * then none ever comes that proves ours. A person decides, at the latest at the deadline.
 */
async function untilProven(flow: Flow, transfer: Transfer, claim: GuardedClaim): Promise<void> {
  const heard = () => transfer.proven || transfer.mismatches.length > 0;
  await condition(() => heard() || flow.deadlinePassed);
  while (!transfer.proven) {
    if (transfer.mismatches.length > 0) await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    else {
      const why = 'a trusted event names this reference, so the deposit is not sent; and no event proves it';
      await askBeforeAnotherSend(flow, { claim, why, proven: heard, sendAgain: false });
    }
  }
}

async function settleUnknownDeposit(
  flow: Flow,
  transfer: Transfer,
  claim: GuardedClaim,
  outcome: Extract<SubmitOutcome, { kind: 'unknown' | 'duplicate' }>,
): Promise<'proven' | 'send-again'> {
  flow.money = { at: 'sent' };
  const why = outcome.kind === 'duplicate' ? 'the service knows this reference already' : outcome.reason;
  flow.enter('outcome-unknown', `the deposit was sent, and its outcome is unknown (${why})`);
  hearTransferEvents(flow, transfer);
  const settled = await settleUnknown(flow, {
    claim,
    windowMs: transfer.windows.settleMs,
    // A repeat that the service answers with DUPLICATE proves that it has the first one.
    repeat: outcome.kind === 'duplicate' ? 'unknown' : outcome.repeat,
    proven: () => transfer.proven,
    ...(outcome.kind === 'duplicate' ? {} : { refused: outcome.refused }),
    expect: {},
  });
  if (settled.kind === 'send-again') return 'send-again';
  if (settled.kind === 'accepted') {
    await accepted(flow, transfer, claim, settled.answer as BridgeDeposit, true);
    return 'proven';
  }
  if (settled.kind === 'rejected') return rejected(flow, claim, { ...settled, owner: '', recorded: true });
  await provenByEvent(flow, transfer, claim);
  return 'proven';
}
