import { ApplicationFailure } from '@temporalio/common';
import { checkRequest, InvalidRequestError, RejectedError, TurnedAwayError } from '../src/service-client/index.js';
import type { OperationName } from '../src/contract/index.js';
import { fixedBy, otherThan, type OtherRecord } from '../src/flows/echoes.js';
import { isOfTestNetwork, paymentHashIn } from '../src/flows/payment-request.js';
import { UnsafeAmountError } from '../src/money.js';
import { begun, nextOf, repeatOf, type Attempt, type Terms, type WhyLater } from '../src/protocol/attempt.js';
import type { ActivityDeps } from './deps.js';
import { hasExpired, heardOf, isStep, type Sending, type Submission } from './attempt-steps.js';
import { otherDeployment } from './claims.js';
import { endsFlow, retryLater, turnedAway, unmatched } from './failures.js';
import { EVENT_CAME, rejectionOf, whyUnknown } from './outcome-of-error.js';
import { sendTimer } from './timing.js';
import type { ClaimRef, SubmitOutcome } from './types.js';

export type { Submission } from './attempt-steps.js';

/**
 * Sends one money-moving POST under its claim, with three possible outcomes. Throws only failures that Temporal may
 * retry (nothing was sent), or that end the flow before anything was sent; everything else is returned as an outcome.
 */
export async function submitUnderClaim<Request>(
  deps: ActivityDeps,
  submission: Submission<Request>,
): Promise<SubmitOutcome> {
  const { operation } = submission.claim;
  const count = (outcome: string) => deps.metrics?.count('towline_money_attempts_total', { operation, outcome });
  try {
    const outcome = await attemptUnderClaim(deps, submission);
    count(outcome.kind.replaceAll('-', '_'));
    return outcome;
  } catch (error) {
    count(error instanceof ApplicationFailure && error.type ? error.type : 'error');
    throw error;
  }
}

/** Does a step, hears what came of it, and asks the table what is next (`src/protocol/attempt.ts`). */
async function attemptUnderClaim<Request>(deps: ActivityDeps, submission: Submission<Request>): Promise<SubmitOutcome> {
  const { account } = deps;
  const { claim, lookUp, lookUpFirst, unasked, guard } = submission;
  if (claim.pin.account !== account) throw otherDeployment(deps, claim, { ...claim.pin, account });
  const { request, problem } = build(deps, submission);
  const paymentHash = paymentHashIn(claim.operation, request);
  const terms: Terms = {
    lookUp: lookUp !== undefined || lookUpFirst !== undefined,
    byOthersToo: lookUpFirst !== undefined,
    skipLookup: unasked === true,
    takesDebt: paymentHash !== undefined,
    sendable: problem === undefined,
    guardsUntrusted: guard.orUntrusted === true,
  };
  const key = { account, operation: claim.operation, reference: claim.reference };
  const owner = deps.newOwner();
  const isInTime = sendTimer(deps);
  const sending: Sending<Request> = { deps, submission, key, owner, terms, request, paymentHash, problem, isInTime };
  let attempt = begun(terms);
  while (isStep(attempt.does)) attempt = nextOf(terms, attempt, await heardOf(sending, attempt, attempt.does));
  if (attempt.does === 'report') return outcomeOf(sending, attempt);
  if (attempt.does === 'try-later') throw laterFailure(sending, attempt.later ?? 'not-sent');
  throw endsFlow('invalid_input', sending.problem ?? textOf(sending.error));
}

function outcomeOf<Request>(sending: Sending<Request>, attempt: Attempt): SubmitOutcome {
  const { deps, submission, found, owner, paid, isWritten: recorded = false } = sending;
  const repeat = repeatOf(attempt, deps.repeatSettingOf(submission.claim.operation));
  switch (attempt.outcome) {
    case 'accepted':
      return accepted(sending, attempt);
    case 'rejected':
      return found?.kind === 'rejected'
        ? { kind: 'rejected', rejection: found.rejection, owner: '', recorded: true }
        : { kind: 'rejected', rejection: rejectionOf(sending.error), owner, recorded };
    case 'duplicate':
      return { kind: 'duplicate', repeat };
    case 'void':
      return {
        kind: 'void',
        ...(found?.kind === 'void' ? { reason: found.reason, sent: found.sent } : { reason: '', sent: 'unknown' }),
      };
    case 'done-elsewhere':
      return { kind: 'done-elsewhere', found: paid ?? { says: 'cannot-tell' } };
    case 'contradicted':
    case 'other-request':
    case 'quote-expired':
      return { kind: attempt.outcome };
    case 'unknown':
    case null:
      return { kind: 'unknown', repeat, ...why(sending, attempt) };
    default:
      return attempt.outcome satisfies never;
  }
}

function accepted<Request>(
  { submission, request, found, answer, isWritten: recorded = false, looked }: Sending<Request>,
  { before }: Attempt,
): SubmitOutcome {
  if (found?.kind === 'answered') {
    const isRepeat = found.isRepeat ? { isRepeat: true as const } : {};
    return {
      kind: 'accepted',
      answer: found.answer,
      recorded: true,
      ...otherAnswer(submission.claim, request, found.answer),
      ...isRepeat,
    };
  }
  if (looked === 'shown') return { kind: 'accepted', answer, byLookup: true, recorded };
  const isRepeat = before === 'nothing' ? {} : { isRepeat: true as const };
  return { kind: 'accepted', answer, recorded, ...isRepeat, ...otherAnswer(submission.claim, request, answer) };
}

/** Why the outcome is unknown. `refused`: how a repeat was refused, which says nothing about the earlier send. */
function why<Request>(
  { deps, key, found, problem, isHeldBack, error, looked }: Sending<Request>,
  { before }: Attempt,
): { reason: string; refused?: string } {
  if (found?.kind === 'sending') return { reason: `an earlier attempt began to send at ${found.since}` };
  if (isHeldBack) return { reason: EVENT_CAME };
  const refused = refusedRepeat(error, problem, before);
  if (refused === undefined) return { reason: whyUnknown(error, looked ?? 'no-lookup') };
  deps.log.warn({ operation: key.operation, reference: key.reference }, 'another send was refused; unknown as before');
  return { reason: `another send was refused (${refused})`, refused };
}

/** By us, or by the service: then it may be because of the earlier send, which used up the balance. */
function refusedRepeat(error: unknown, problem: string | undefined, before: Attempt['before']): string | undefined {
  if (error === undefined) return problem ?? '';
  if (error instanceof InvalidRequestError) return error.message;
  return before === 'unknown' && error instanceof RejectedError ? `${error.httpStatus}: ${error.message}` : undefined;
}

function laterFailure<Request>(
  { deps, submission, key, found, paid, error }: Sending<Request>,
  later: WhyLater,
): ApplicationFailure {
  switch (later) {
    case 'not-sent':
      return retryLater('not_sent', textOf(error));
    case 'turned-away':
      return error instanceof TurnedAwayError ? turnedAway(error) : retryLater('not_sent', textOf(error));
    case 'not-asked':
      return retryLater(
        'not_sent',
        paid === undefined
          ? 'not repeated before the service has been asked'
          : `not sent before the service has said that it was not done: ${paid.why ?? ''}`,
      );
    case 'fenced':
      return retryLater('fenced', 'another attempt took over the claim');
    case 'unmatched':
      return unmatched();
    case 'other-deployment': {
      const ours = found?.kind === 'other-deployment' ? found : submission.claim.pin;
      return otherDeployment(deps, submission.claim, { store: ours.store, epoch: ours.epoch, account: key.account });
    }
    case 'store-unavailable':
      return retryLater('store_unavailable', 'the claim could not be handed back');
    default:
      return later satisfies never;
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : '');

interface Built<Request> {
  /** Absent if it cannot be put on the wire. */
  readonly request?: Request;
  /** Why it must not be sent; undefined: it may. */
  readonly problem: string | undefined;
}

/** Any error that this does not return is a bug, and is retried until a fixed version runs. */
function build<Request>(deps: ActivityDeps, { claim, request }: Submission<Request>): Built<Request> {
  try {
    const built = request();
    checkRequest(claim.operation as OperationName, built);
    return { request: built, problem: unpayable(deps, claim.operation, built) };
  } catch (error) {
    if (error instanceof InvalidRequestError || error instanceof UnsafeAmountError) return { problem: error.message };
    throw error;
  }
}

function unpayable(deps: ActivityDeps, operation: string, request: unknown): string | undefined {
  if (hasExpired(deps, operation, request)) return HAS_EXPIRED;
  return !deps.serviceIsOnLoopback && isOfTestNetwork(operation, request) ? OF_TEST_NETWORK : undefined;
}

const OF_TEST_NETWORK = 'its payment request is of a test network';
const HAS_EXPIRED = 'its payment request has expired, and can no longer be paid';

/** What the request fixed, and the answer names otherwise. */
function otherAnswer({ operation }: ClaimRef, request: unknown, answer: unknown): { other?: OtherRecord } {
  const other = otherThan(operation, fixedBy(operation as OperationName, request), answer);
  return other === undefined ? {} : { other };
}
