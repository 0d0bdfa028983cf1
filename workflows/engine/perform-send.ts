import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { SubmitOutcome } from '../../activities/types.js';
import type { CardDepositInput } from '../../src/flows/card-deposit.js';
import { CARD_LIFE_MS } from '../../src/protocol/task-queues.js';
import { CARD_SUBMIT, CARD_WORKER_START_MS, SUBMIT, submitPolicy } from './policies.js';
import { PLAIN_SEND, type ForPersons, type Known, type Result, type Step } from './known.js';
import { acts, paidIn, termsOf, windowsOf } from './performing.js';
import type { Context } from './plan.js';
import { nounOf } from './told.js';
import { OTHER_REQUEST } from './learn.js';

type SendResult = Extract<Result, { of: 'send' }>;

/** The POST of a request, under its claim. */
export async function send(context: Context, step: Step, known: Known): Promise<Result> {
  const { flowId, plan } = context;
  const own = plan.requests.find(({ name }) => name === step.request)?.send;
  if (own !== undefined) return own(context, step, known);
  if (plan.requests.some(({ name, byGateway }) => name === step.request && byGateway === true))
    return sendByGateway(context, step, known);
  const { claim } = termsOf(known, step.request);
  const windows = windowsOf(known);
  const summary = `Send ${nounOf(plan, step.request)}, under its claim`;
  const outcome = await acts(context, submitPolicy(SUBMIT, windows), summary).submitStep({
    flowId,
    step: step.request,
    input: known.prepared?.input,
    pin: claim.pin,
    unasked: step.unasked === true,
    reviewedEventIds: step.reviewed ?? [],
    mostMs: windows.postMs,
  });
  return sent(outcome, known, step.request);
}

/** On the gateway's own task queue: one attempt, since what it needs exists only there, and only once. */
async function sendByGateway(context: Context, step: Step, known: Known): Promise<Result> {
  const { flowId, plan, timeScale } = context;
  const { claim } = termsOf(known, step.request);
  const windows = windowsOf(known);
  const input = known.prepared?.input as CardDepositInput;
  const taskQueue = input.cardToken.slice(0, input.cardToken.indexOf('.'));
  const scheduleToStartTimeout = Math.max(CARD_WORKER_START_MS, Math.ceil(CARD_LIFE_MS * timeScale));
  const policy = submitPolicy({ ...CARD_SUBMIT, scheduleToStartTimeout }, windows);
  const summary = `Send ${plan.noun}, under its claim, by the gateway that keeps the card`;
  try {
    // A worker of the money queue must be free: a stop of money stops cards, too.
    await acts(context, { ...CARD_SUBMIT, scheduleToStartTimeout }, 'Wait for a turn').takeTurn();
    const outcome = await acts(context, { ...policy, taskQueue }, summary).submitCardDeposit({
      flowId,
      input,
      pin: claim.pin,
      reviewedEventIds: step.reviewed ?? [],
      mostMs: windows.postMs,
    });
    if (outcome.kind === 'not-sent')
      return answered('not-sent', { why: outcome.why }, { afterMs: outcome.afterMs ?? 0 });
    if (outcome.kind === 'card-gone') return answered('gone', { why: outcome.why });
    return sent(outcome, known, step.request);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    // Refused before anything was sent, for a reason that ends the flow.
    if (error.cause instanceof ApplicationFailure && error.cause.nonRetryable === true) throw error;
    return answered('gone', { why: 'money is stopped, or the gateway that kept the card did not answer' });
  }
}

const answered = (
  answer: SendResult['answer'],
  shown: Partial<ForPersons> = {},
  more: Partial<SendResult> = {},
): SendResult => ({ ...PLAIN_SEND, answer, shown, ...more });

export function sent(outcome: SubmitOutcome, known: Known, request: string): SendResult {
  switch (outcome.kind) {
    case 'accepted': {
      const { answer, recorded, other, isRepeat, byLookup } = outcome;
      const more = {
        unwritten: !recorded,
        isOther: other !== undefined,
        isRepeat: isRepeat === true || byLookup === true,
      };
      return answered('accepted', { answer, other: other ?? null }, more);
    }
    case 'rejected':
      return answered(
        'rejected',
        { rejection: outcome.rejection, owner: outcome.owner },
        { unwritten: !outcome.recorded },
      );
    case 'unknown':
      return answered('unknown', { why: outcome.reason, refused: outcome.refused ?? null }, { repeat: outcome.repeat });
    case 'duplicate':
      return answered('duplicate', { why: 'the service knows this reference already' }, { repeat: outcome.repeat });
    case 'contradicted':
      return answered('held-back', { why: HELD_BACK });
    case 'other-request':
      return answered('other-request', { why: OTHER_REQUEST });
    case 'void':
      return answered('void', { why: outcome.reason }, { sent: outcome.sent });
    case 'done-elsewhere':
      return answered('done-elsewhere', {}, { paid: paidIn(known, request, outcome.found) });
    case 'quote-expired':
      return answered('quote-expired');
    default:
      return outcome satisfies never;
  }
}

const HELD_BACK = 'a trusted event names this reference, so it was not sent';
