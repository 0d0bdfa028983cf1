import { ActivityFailure, ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import { CHECKOUT_WORDS } from '../src/protocol/statuses.js';
import { CARD_LIFE_MS } from '../src/protocol/task-queues.js';
import type { CardAttempt } from '../activities/card-deposit.js';
import type { StepTerms, SubmitOutcome } from '../activities/types.js';
import type { Payment } from './engine/payment.js';
import { paymentFlow } from './engine/payment-flow.js';
import {
  FAILURE_GRACE_MS,
  NO_LOOK_MS,
  CARD_PAUSE_MS,
  CARD_SUBMIT,
  CARD_WORKER_START_MS,
  submitPolicy,
} from './engine/policies.js';
import { act } from './engine/activities.js';
import { reviewedEvents } from './engine/evidence.js';
import { endFlow } from './engine/flow-end.js';
import type { Flow } from './engine/flow.js';
import { voidUnsent } from './engine/stop.js';

/**
 * A card deposit: send it with the card that one gateway keeps for a minute → the customer passes 3-D Secure at the
 * answer's `redirect_url` → paid. There is no lookup: trusted events report its end, or it parks at its deadline.
 */
export const cardDeposit = paymentFlow('card-deposit', {
  step: 'deposit',
  noun: 'the card deposit',
  words: CHECKOUT_WORDS,
  hasLookup: false,
  firstLookMs: NO_LOOK_MS,
  failureGraceMs: FAILURE_GRACE_MS,
  send: sendWithCard,
  sendAgain: false,
});

/**
 * Lets the gateway that keeps the card send the deposit, on that gateway's own task queue. A send that was proven not
 * to have happened is tried again while the card lives. If the card is gone, the claim decides the outcome.
 */
async function sendWithCard(flow: Flow, payment: Payment, terms: StepTerms): Promise<SubmitOutcome> {
  const startedAtMs = Date.now();
  let pauseMs = CARD_PAUSE_MS;
  for (;;) {
    const attempt = await attemptOnce(flow, payment, terms);
    if (attempt.kind === 'card-gone') return voidOrUnknown(flow, terms, attempt.why);
    if (attempt.kind !== 'not-sent') return attempt;
    const delayMs = flow.scaled(Math.max(attempt.afterMs ?? 0, pauseMs));
    if (Date.now() - startedAtMs + delayMs >= CARD_LIFE_MS) return voidOrUnknown(flow, terms, attempt.why);
    flow.note('not-sent', `not sent (${attempt.why}); tried again while the card is kept`);
    // Bounded by CARD_LIFE_MS, in which all of its pauses together end.
    await sleep(delayMs);
    pauseMs *= 2;
  }
}

async function attemptOnce(flow: Flow, payment: Payment, { claim }: StepTerms): Promise<CardAttempt> {
  const { cardToken } = payment.input as { readonly cardToken: string };
  const taskQueue = cardToken.slice(0, cardToken.indexOf('.'));
  const summary = 'Send the card deposit, under its claim, by the gateway that keeps the card';
  const scheduleToStartTimeout = Math.max(CARD_WORKER_START_MS, flow.scaled(CARD_LIFE_MS));
  const policy = submitPolicy({ ...CARD_SUBMIT, scheduleToStartTimeout }, payment.windows);
  try {
    // Bounded by one attempt, with schedule-to-start and start-to-close.
    await act({ ...CARD_SUBMIT, scheduleToStartTimeout }, 'Wait for a turn', flow.timeScale).takeTurn();
    // Bounded by one attempt, with schedule-to-start and start-to-close.
    return await act({ ...policy, taskQueue }, summary, flow.timeScale).submitCardDeposit({
      flowId: flow.flowId,
      input: payment.input,
      pin: claim.pin,
      reviewedEventIds: reviewedEvents(flow, payment),
      mostMs: payment.windows.postMs,
    });
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    // Refused before anything was sent, for a reason that ends the flow.
    if (error.cause instanceof ApplicationFailure && error.cause.nonRetryable === true) throw error;
    return { kind: 'card-gone', why: 'money is stopped, or the gateway that kept the card did not answer' };
  }
}

/** The flow says "nothing charged" only after the claim was voided, so that no attempt, however late, can send. */
async function voidOrUnknown(flow: Flow, { claim }: StepTerms, why: string): Promise<SubmitOutcome> {
  const voided = await voidUnsent(flow, claim, 'card_details_expired');
  if (voided !== true) return { kind: 'unknown', reason: why, repeat: 'unknown' };
  return endFlow(
    'failed',
    'card_details_expired',
    `The card was not sent in the minute that it is kept (${why}). Nothing was charged; begin again with a new reference.`,
  );
}
