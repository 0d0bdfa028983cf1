import { ApplicationFailure } from '@temporalio/common';
import type { Card, CardDepositRequest, CardDeposit } from '../src/contract/deposit.js';
import { ownCallbackUrl } from '../src/flows/capability.js';
import { RejectedError, UnknownOutcomeError } from '../src/service-client/index.js';
import type { ActivityDeps } from './deps.js';
import type { SendStepOrder, SubmitOutcome } from './types.js';
import { liveLookupOf } from '../src/protocol/live-operations.js';
import { lookUpPost } from './settle-unknown.js';
import { submissionOf, termsOf, timeScaleOf } from './flow-steps.js';
import { withHeartbeat } from './timing.js';
import { submitUnderClaim } from './submit-under-claim.js';

/** The cards that this process keeps in memory. */
export interface CardSource {
  /** Hands a card to one taker at a time; undefined if it is no longer kept, or if another taker has it. */
  take(token: string): Card | undefined;
  /** After proof that it was not executed: the card may be taken again within its minute. */
  putBack(token: string): void;
  forget(token: string): void;
}

export type CardAttempt =
  | SubmitOutcome
  /** Proven: nothing was executed. `afterMs`: how long the service asks us to wait. */
  | { readonly kind: 'not-sent'; readonly why: string; readonly afterMs: number | null }
  /** This attempt sent nothing, because it has no card. An earlier one may have. */
  | { readonly kind: 'card-gone'; readonly why: string };

/** The one activity of the worker inside a gateway: card data goes from its memory to the service, and nowhere else. */
export function createCardActivities(deps: ActivityDeps, cards: CardSource) {
  return {
    /** One POST under its claim, with a card that is used once. Called with one attempt only. */
    async submitCardDeposit(order: Omit<SendStepOrder, 'step'>): Promise<CardAttempt> {
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
        // `submitUnderClaim` throws a retryable error only if nothing was executed.
        cards.putBack(cardToken);
        return { kind: 'not-sent', why: error.type ?? 'not_sent', afterMs: delayOf(error) };
      }
    },
  };
}

async function submit(
  deps: ActivityDeps,
  { flowId, input, pin, reviewedEventIds, mostMs }: Omit<SendStepOrder, 'step'>,
  card: Card,
): Promise<SubmitOutcome> {
  const submission = submissionOf({ flowId, step: 'deposit', input });
  const { claim, facts } = termsOf(deps, { flowId, pin }, input, submission);
  const hasLookup = liveLookupOf(pin, claim.operation) !== undefined;
  const ours = { callbackUrl: ownCallbackUrl(deps, flowId) };
  const outcome = await submitUnderClaim(deps, {
    claim,
    guard: { flowId, statuses: submission.shownBy, besides: reviewedEventIds },
    ...(hasLookup && { lookUp: () => lookUpPost(deps, { claim, expect: facts, saidToExist: false }) }),
    timeScale: timeScaleOf(input),
    request: () => ({ ...(submission.request(input, ours) as Omit<CardDepositRequest, 'card'>), card }),
    // Not `onAnswer`: that keeps the answer unchanged, and this answer may contain the card.
    send: (request, { stillValid }) =>
      deps.service.createCardDeposit(request, { ...(stillValid && { stillValid }), mostMs }).then(
        (answer) => answerWithoutCard(answer, card),
        (error: unknown) => {
          throw refusalWithoutCard(error, card);
        },
      ),
  });
  // Whatever the service does with repeats, the card for a repeat is gone.
  return outcome.kind === 'unknown' || outcome.kind === 'duplicate' ? { ...outcome, repeat: 'unknown' } : outcome;
}

function delayOf({ nextRetryDelay }: ApplicationFailure): number | null {
  return typeof nextRetryDelay === 'number' ? nextRetryDelay : null;
}

/** The members that the contract shows. Anything else in the answer could be the card. */
const MEMBERS = ['id', 'message', 'reference_id', 'reference_number', 'customer_key', 'redirect_url'] as const;

const MARK = '[redacted]';

/** These members are sentences; every other member is kept whole or not at all. */
const SENTENCES: readonly string[] = ['message'];

/**
 * The service may repeat what it was sent, and its answer goes into the claim and the history. So this keeps only the
 * members that the contract shows, without the card in them.
 */
export function answerWithoutCard(answer: CardDeposit, card: Card): Partial<CardDeposit> {
  return Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value = answer[name];
      if (typeof value !== 'string') return [];
      if (SENTENCES.includes(name)) return [[name, sentenceWithoutCard(value, card)]];
      return holdsNumber(value, card) ? [] : [[name, value]];
    }),
  );
}

/** What an answer says, cleaned of the card. The client has cut out most of the text; short members remain. */
export function refusalWithoutCard(error: unknown, card: Card): unknown {
  if (error instanceof UnknownOutcomeError && error.text !== undefined) {
    const { operation, reason, httpStatus, text } = error;
    return new UnknownOutcomeError(operation, reason, httpStatus, sentenceWithoutCard(text, card));
  }
  if (!(error instanceof RejectedError)) return error;
  const { operation, httpStatus, code, fields, hasReason, isRateExpired, isAboutReference } = error;
  return new RejectedError(operation, {
    httpStatus,
    fields,
    isRateExpired,
    isAboutReference,
    ...(hasReason ? { message: sentenceWithoutCard(error.message, card) } : {}),
    ...(code === undefined || cardTexts(card).includes(code) ? {} : { code }),
  });
}

/** Removes long runs of digits, every spelling of the card's short members, and the words of the holder's name. */
function sentenceWithoutCard(text: string, card: Card): string {
  const secrets = cardTexts(card);
  const holder = new Set((card.holder ?? '').toLowerCase().match(/\p{L}+/gu));
  return text
    .replaceAll(/\p{L}+/gu, (word) => (holder.has(word.toLowerCase()) ? MARK : word))
    .replaceAll(/\d(?:[ -]?\d){5,}/g, MARK)
    .replaceAll(/\d+/g, (digits) => (secrets.includes(digits) ? MARK : digits));
}

function holdsNumber(text: string, card: Card): boolean {
  return digitsOf(text).includes(digitsOf(card.number));
}

/** As a service may write them: "3/2027", "03/27" and "0327" are one date. */
function cardTexts({ number, cvv, expiryMonth, expiryYear }: Card): readonly string[] {
  const months = [expiryMonth, expiryMonth.padStart(2, '0'), String(Number(expiryMonth))];
  const years = [expiryYear, expiryYear.slice(-2), `20${expiryYear.slice(-2)}`];
  const dates = months.flatMap((month) => years.flatMap((year) => [month + year, year + month]));
  return [digitsOf(number), cvv, ...months, ...years, ...dates];
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, '');
