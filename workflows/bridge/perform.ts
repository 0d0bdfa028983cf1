import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import { liveLookupOf } from '../../src/protocol/live-operations.js';
import { asBridgeStatus } from './statuses.js';
import { QUOTE_MARGIN_MS, QUOTED_SUBMIT, READ, REPORT_PATIENCE_MS, SUBMIT, submitPolicy } from '../engine/policies.js';
import { PLAIN_SEND, type Known, type Result, type Step } from '../engine/known.js';
import { sent } from '../engine/perform-send.js';
import { acts, termsOf, windowsOf } from '../engine/performing.js';
import type { Context } from '../engine/plan.js';
import { view } from '../engine/view.js';
import { refundTerms } from './refund-terms.js';
import { transferIn } from './refund.js';
import { factsOfRecord, inputOf } from './transfer.js';

/** A quote that no worker got to in time is no reason to fail: the next attempt has another one. */
export async function sendDeposit(context: Context, step: Step, known: Known): Promise<Result> {
  const { claim } = termsOf(known, 'deposit');
  const windows = windowsOf(known);
  const { quote } = known.transfer ?? {};
  if (quote == null) throw new TypeError('a deposit without a quote');
  const policy = submitPolicy(QUOTED_SUBMIT, windows);
  try {
    const outcome = await acts(context, policy, 'Send the deposit, under its claim').submitBridgeDeposit({
      flowId: context.flowId,
      fingerprint: claim.fingerprint,
      pin: claim.pin,
      input: inputOf(known),
      ...(liveLookupOf(claim.pin, claim.operation) === undefined
        ? {}
        : { expect: factsOfRecord(known), unasked: step.unasked === true }),
      rateId: quote.rateId,
      quotedAtMs: quote.quotedAtMs,
      usableMs: quote.lifeMs - QUOTE_MARGIN_MS,
      reviewedEventIds: step.reviewed ?? [],
      mostMs: windows.postMs,
    });
    return sent(outcome, known, 'deposit');
  } catch (error) {
    // An earlier attempt may have sent: the next send reads the claim, as always.
    if (error instanceof ActivityFailure && isScheduleToStart(error.cause))
      return { ...PLAIN_SEND, answer: 'quote-expired', isUntaken: true };
    throw error;
  }
}

const isScheduleToStart = (cause: unknown): boolean =>
  cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';

export async function sendRefund(context: Context, step: Step, known: Known): Promise<Result> {
  const { timeScale, plan } = context;
  const terms = refundTerms(transferIn(view(known, plan, Date.now(), undefined, 'deposit')));
  if ('code' in terms) throw new TypeError(terms.text);
  const windows = windowsOf(known);
  const send = acts(context, submitPolicy(SUBMIT, windows), 'Send the refund, under its claim');
  const { outcome } = await send.submitRefund({
    ...terms,
    by: step.debt?.by ?? 'input',
    reviewedEventIds: step.reviewed ?? [],
    unasked: step.unasked === true,
    timeScale,
    mostMs: windows.postMs,
  });
  return sent(outcome, known, 'refund');
}

export async function getQuote(context: Context, known: Known): Promise<Result> {
  // Bounded by the deadline: a rule gives it up then.
  const quote = await acts(context, READ, 'Get a new quote').quoteBridgeTransfer({ input: inputOf(known) });
  return { of: 'quote', quote, why: null };
}

/** Repeat-safe, so that it needs no claim, and is retried. */
export async function report(context: Context, step: Step, known: Known): Promise<Result> {
  const { timeScale } = context;
  const { event } = known.events.find((one) => one.event.id === step.event) ?? {};
  const status = asBridgeStatus(event?.status ?? null);
  if (event === undefined || status === undefined) throw new TypeError('a report of no ending');
  const { claim } = termsOf(known, 'deposit');
  const answer = known.requests['deposit']?.shown.answer as { readonly kotani_reference_id?: string } | null;
  const isParked = step.isParked === true;
  const summary = isParked ? `Report ${status} on, while a person decides` : `Report ${status} to the service`;
  // The activity gives up by itself, unless no attempt of it ends.
  const acting = acts(context, READ, summary, isParked ? undefined : 1.2 * REPORT_PATIENCE_MS);
  const outcome = await acting.reportSettlement({
    flowId: context.flowId,
    eventId: event.id,
    status,
    reference: claim.reference,
    serviceReference: answer?.kotani_reference_id ?? null,
    ...(isParked ? {} : { patienceMs: Math.max(1, Math.ceil(REPORT_PATIENCE_MS * timeScale)) }),
  });
  return { of: 'report', status, outcome };
}
