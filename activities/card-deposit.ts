import { ApplicationFailure } from '@temporalio/common';
import type { Card, CardDepositRequest } from '../src/contract/deposit.js';
import { answerWithoutCard, refusalWithoutCard } from './card-answer.js';
import type { ActivityDeps } from './deps.js';
import type { ClaimStepOrder } from './flow-step-terms.js';
import { submissionOf, termsOf } from './flow-steps.js';
import { withHeartbeat } from './heartbeat.js';
import type { SubmitOutcome } from './outcomes.js';
import { submitUnderClaim } from './submit-under-claim.js';
import { callbackCapability, callbackUrl } from '../src/flows/capability.js';

/** The cards that this process keeps in memory. */
export interface CardSource {
  /** Hands a card to one taker at a time; undefined where it is not kept (any more), or is with another. */
  take(token: string): Card | undefined;
  /** After proof that it was not sent: it may be taken again, while its minute lasts. */
  putBack(token: string): void;
  forget(token: string): void;
}

export type CardAttempt =
  | SubmitOutcome
  /** Proven: nothing was sent. `afterMs`: how long the service asks us to wait. */
  | { readonly kind: 'not-sent'; readonly why: string; readonly afterMs: number | null }
  /** This attempt sent nothing, because it has no card. An earlier one may have. */
  | { readonly kind: 'card-gone'; readonly why: string };

/** The one activity of the worker inside a gateway: card data goes from its memory to the service, and nowhere else. */
export function createCardActivities(deps: ActivityDeps, cards: CardSource) {
  return {
    /** One POST under its claim, with a card that is used once. Called with one attempt only. */
    async submitCardDeposit(order: Omit<ClaimStepOrder, 'step'>): Promise<CardAttempt> {
      const { cardToken } = order.input as { readonly cardToken: string };
      const card = cards.take(cardToken);
      if (card === undefined) return { kind: 'card-gone', why: 'its minute was over, or it was used before' };
      try {
        const outcome = await withHeartbeat(deps.clock, () => submit(deps, order, card));
        cards.forget(cardToken);
        return outcome;
      } catch (error) {
        if (!(error instanceof ApplicationFailure) || error.nonRetryable === true) {
          cards.forget(cardToken);
          throw error;
        }
        // `submitUnderClaim` throws what may be tried again only where nothing was sent.
        cards.putBack(cardToken);
        return { kind: 'not-sent', why: error.type ?? 'not_sent', afterMs: delayOf(error) };
      }
    },
  };
}

async function submit(
  deps: ActivityDeps,
  { flowId, input, pin }: Omit<ClaimStepOrder, 'step'>,
  card: Card,
): Promise<SubmitOutcome> {
  const submission = submissionOf({ flowId, step: 'deposit', input });
  const { claim } = termsOf(deps, { flowId, pin }, input, submission);
  const ours = { callbackUrl: callbackUrl(deps.publicUrl, flowId, callbackCapability(deps.store, flowId)) };
  const outcome = await submitUnderClaim(deps, {
    claim,
    guard: { flowId, statuses: submission.shownBy },
    request: () => ({ ...(submission.request(input, ours) as Omit<CardDepositRequest, 'card'>), card }),
    send: (request) =>
      deps.service.createCardDeposit(request).then(
        (answer) => answerWithoutCard(answer, card),
        (error: unknown) => {
          throw refusalWithoutCard(error, card);
        },
      ),
  });
  // Whatever the service does with repeats: there is no card for one.
  return outcome.kind === 'unknown' || outcome.kind === 'duplicate' ? { ...outcome, repeat: 'unknown' } : outcome;
}

function delayOf({ nextRetryDelay }: ApplicationFailure): number | null {
  return typeof nextRetryDelay === 'number' ? nextRetryDelay : null;
}
