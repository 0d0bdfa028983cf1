import { ApplicationFailure } from '@temporalio/common';
import {
  checkRequest,
  InvalidRequestError,
  NotSentError,
  type CallOptions,
  type ServiceAnswer,
} from '../src/service-client/index.js';
import type { OperationName } from '../src/contract/index.js';
import { fixedBy, otherThan, type OtherRecord } from '../src/flows/echoes.js';
import { expiryIn, isOfTestNetwork, paymentHashIn } from '../src/flows/payment-request.js';
import { systemClock } from '../src/clock.js';
import { UnsafeAmountError } from '../src/money.js';
import type { ClaimKey, ContradictionGuard, KeptAnswer, Reservation } from '../src/store/claim.js';
import { beforeRepeat, type LookupSays, type Repeat, type SentBefore } from '../src/protocol/decisions.js';
import type { ActivityDeps } from './deps.js';
import { otherDeployment, recordAnswer, requireOwnDeployment } from './claims.js';
import { endsFlow, retryLater, storing, unmatched } from './failures.js';
import { outcomeFromError, refusedRepeat, tried, type Attempt } from './outcome-of-error.js';
import { lookupOfPaid } from './status-lookups.js';
import { absentForLong, sendTimer } from './timing.js';
import type { ClaimRef, PaidReading, SubmitOutcome } from './types.js';

export interface Submission<Request> {
  readonly claim: ClaimRef;
  /** The operation's body, built and checked before its claim: an invalid one never reaches `sending`. */
  readonly request: () => Request;
  /** Exactly one POST. */
  readonly send: (request: Request, options: Pick<CallOptions, 'stillValid' | 'onAnswer'>) => Promise<unknown>;
  /** False once the quote that the POST carries is too old to be sent. */
  readonly stillValid?: () => boolean;
  /** Trusted events in the inbox that show it done: read in the transaction that marks the claim. */
  readonly guard: ContradictionGuard;
  /** The status lookup that is made right before a repeat. Absent if the interface has none. */
  readonly lookUp?: () => Promise<{ readonly lookup: LookupSays; readonly answer?: unknown }>;
  /** A repeat is sent even if that lookup cannot tell. @default false */
  readonly unasked?: boolean;
  /** Asked right before a first send: whether someone else has already made the payment. Absent if no one else can. */
  readonly lookUpFirst?: () => Promise<PaidReading>;
  /** @default 1 */
  readonly timeScale?: number;
}

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

async function attemptUnderClaim<Request>(deps: ActivityDeps, submission: Submission<Request>): Promise<SubmitOutcome> {
  const { account, store } = deps;
  const { operation, reference, flowId, fingerprint, pin } = submission.claim;
  const key: ClaimKey = { account, operation, reference };
  const quoteIsValid = submission.stillValid ?? (() => true);
  const owner = deps.newOwner();
  const repeat = deps.repeatSettingOf(operation);

  if (pin.account !== account) throw otherDeployment(deps, submission.claim, { ...pin, account });
  const built = build(deps, submission);
  const { request } = built;
  let { problem } = built;
  const paymentHash = paymentHashIn(operation, request);
  if (problem !== undefined) {
    const ours = await requireOwnDeployment(deps, submission.claim);
    const isFree = pin.epoch === ours.epoch && (await storing(() => store.claims.get(key))) === undefined;
    if (isFree) throw endsFlow('invalid_input', problem);
  }
  // One transaction: the right to send, no trusted event that shows it done, and `sending` (or only a reservation if a
  // lookup comes first, or a payment hash is to be taken). If its result is lost, the next attempt treats `sending` as
  // unknown: slow, but safe.
  let isInTime = sendTimer(deps);
  const isAsked = submission.lookUpFirst !== undefined || paymentHash !== undefined;
  const goesOn = problem === undefined && quoteIsValid() && !isAsked;
  const sends = goesOn ? submission.guard : undefined;
  const asks = { owner, flowId, fingerprint, epoch: pin.epoch, store: pin.store };
  const found = await storing(() => store.claims.reserve(key, asks, sends));
  if (found.kind === 'other-deployment') throw otherDeployment(deps, submission.claim, { ...found, account });
  if (found.kind === 'unmatched') throw unmatched();
  if ('takenOver' in found && found.takenOver) deps.metrics?.count('towline_claims_taken_over_total', { operation });
  const attempt: Attempt = {
    key,
    owner,
    repeat,
    before: (found.kind === 'reserved' ? found.sentBefore : undefined) ?? 'nothing',
    quoteIsValid,
    lookUp: whetherShown(submission),
    timeScale: submission.timeScale ?? 1,
  };
  const isRepeat = attempt.before !== 'nothing';
  if (found.kind === 'reserved') {
    const shown =
      (isRepeat ? await shownBeforeRepeat(deps, attempt, submission) : undefined) ??
      (attempt.before === 'unknown' ? undefined : await doneBeforeFirst(submission));
    if (shown !== undefined) return shown;
    // A reserved claim that stays behind does no harm: the next attempt takes it over.
    if (!quoteIsValid()) return { kind: 'quote-expired' };
    problem ??= await otherDebt(deps, key, paymentHash);
    if (problem !== undefined && !isRepeat) throw endsFlow('invalid_input', problem);
    isInTime = sendTimer(deps);
    const guard = guardOf(submission, attempt.before);
    const marked = await storing(() => store.claims.markSending(key, owner, guard));
    if (marked === 'fenced') throw retryLater('fenced', 'another attempt took over the claim');
    if (marked === 'unmatched') throw unmatched();
    if (marked === 'contradicted') {
      return guard === submission.guard ? { kind: 'contradicted' } : repeatHeldBack(deps, key);
    }
  } else if (found.kind !== 'may-send') return whatTheClaimSays(found, repeat, submission.claim, request);
  if (request === undefined || problem !== undefined) return refusedRepeat(deps, key, problem ?? '');
  const stillValid = () => quoteIsValid() && isInTime() && !hasExpired(deps, operation, request);
  let kept: KeptAnswer | undefined;
  try {
    // The disk may have been slow, or the whole process may have been suspended.
    if (!stillValid()) throw new NotSentError(operation as OperationName, 'expired');
    const answer = await submission.send(request, { stillValid, onAnswer: (came) => (kept = verbatim(came)) });
    const recorded = await tried(deps, key, () => recordAnswer(deps, key, flowId, answer, kept));
    return {
      kind: 'accepted',
      answer,
      recorded,
      ...(isRepeat ? { isRepeat } : {}),
      ...otherAnswer(submission.claim, request, answer),
    };
  } catch (error) {
    return outcomeFromError(deps, attempt, error, kept);
  }
}

/** An earlier send may have been executed: a repeat is sent only if the service does not show it. */
async function shownBeforeRepeat(
  deps: ActivityDeps,
  { key, before, timeScale }: Attempt,
  { claim, lookUp, unasked }: Pick<Submission<never>, 'claim' | 'lookUp' | 'unasked'>,
): Promise<SubmitOutcome | undefined> {
  let found: Awaited<ReturnType<NonNullable<typeof lookUp>>> | undefined;
  const ask = async (): Promise<LookupSays> => (found = await lookUp?.())?.lookup ?? 'no-lookup';
  // The service answered a moment ago, and its record may lag. Before a send that was ordered, it was asked for long.
  const step = beforeRepeat(
    before === 'turned-away' ? await absentForLong(deps, timeScale, ask) : await ask(),
    unasked === true,
  );
  switch (step) {
    case 'follow':
      return {
        kind: 'accepted',
        answer: found?.answer,
        byLookup: true,
        recorded: await tried(deps, key, () => recordAnswer(deps, key, claim.flowId, found?.answer)),
      };
    case 'ask-person':
      await storing(() => deps.store.claims.recordDecision(key, 'held-back', HELD_BACK));
      return { kind: 'duplicate', repeat: 'unknown' };
    case 'wait':
      throw retryLater('not_sent', 'not repeated before the service has been asked');
    case 'send':
      return undefined;
    default:
      return step satisfies never;
  }
}

/** A repeat of what was turned away is ordered by no person: an event that came since may be of an earlier copy. */
function guardOf({ guard }: Pick<Submission<never>, 'guard'>, before: SentBefore): ContradictionGuard {
  return before === 'turned-away' && guard.orUntrusted !== true ? { ...guard, orUntrusted: true } : guard;
}

/** An earlier copy may have been executed, and only a person may order another send. */
async function repeatHeldBack(deps: ActivityDeps, key: ClaimKey): Promise<SubmitOutcome> {
  await storing(() => deps.store.claims.recordDecision(key, 'held-back', { actor: 'flow', note: EVENT_CAME }));
  return { kind: 'unknown', reason: EVENT_CAME, repeat: 'unknown' };
}

const EVENT_CAME = 'an event came before it was sent again';

/** The flow's own lookup may be old: nothing is sent if the payment was made meanwhile, or if that is unknown. */
async function doneBeforeFirst({
  lookUpFirst,
}: Pick<Submission<never>, 'lookUpFirst'>): Promise<SubmitOutcome | undefined> {
  const found = await lookUpFirst?.();
  if (found === undefined || found.says === 'not-paid') return undefined;
  if (found.says !== 'cannot-tell') return { kind: 'done-elsewhere', found };
  throw retryLater('not_sent', `not sent before the service has said that it was not done: ${found.why ?? ''}`);
}

/** Whether a refused POST is shown. A payment that others can make, too, may be shown as theirs. */
function whetherShown({ lookUp, lookUpFirst }: Pick<Submission<never>, 'lookUp' | 'lookUpFirst'>): Attempt['lookUp'] {
  if (lookUpFirst !== undefined) return async () => lookupOfPaid(await lookUpFirst());
  return lookUp && (async () => (await lookUp()).lookup);
}

const HELD_BACK = { actor: 'flow', note: 'the service has something else under this reference' };

const MOST_KEPT_BYTES = 64 * 1_024;

/** The answer for the caller, byte for byte. Too large, or not text: the caller gets what the flow understood. */
function verbatim({ httpStatus, headers, bytes }: ServiceAnswer): KeptAnswer | undefined {
  const body = Buffer.from(bytes).toString('utf8');
  if (bytes.length > MOST_KEPT_BYTES || Buffer.byteLength(body) !== bytes.length) return undefined;
  return { httpStatus, contentType: headers['content-type'] ?? 'application/json', body };
}

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

/** What it names can no longer be paid: checked when it is built, and again right before its first byte leaves. */
function hasExpired({ clock = systemClock }: ActivityDeps, operation: string, request: unknown): boolean {
  const expiresAtMs = expiryIn(operation, request);
  return expiresAtMs !== undefined && expiresAtMs <= clock.nowMs();
}

function unpayable(deps: ActivityDeps, operation: string, request: unknown): string | undefined {
  if (hasExpired(deps, operation, request)) return HAS_EXPIRED;
  return !deps.serviceIsOnLoopback && isOfTestNetwork(operation, request) ? OF_TEST_NETWORK : undefined;
}

const OF_TEST_NETWORK = 'its payment request is of a test network';
const HAS_EXPIRED = 'its payment request has expired, and can no longer be paid';

/** A payment over Lightning settles one debt: why this one needs a payment request of its own. Durable before any send. */
async function otherDebt(deps: ActivityDeps, key: ClaimKey, paymentHash: string | undefined) {
  if (paymentHash === undefined || (await storing(() => deps.store.debts.take(paymentHash, key)))) return undefined;
  return OTHER_DEBT;
}

const OTHER_DEBT = 'its payment request is used for another payment already, and can be paid only once';

type NotOurs = Exclude<Reservation, { kind: 'reserved' | 'may-send' | 'unmatched' | 'other-deployment' }>;

/** What the request fixed, and the answer names otherwise. */
function otherAnswer({ operation }: ClaimRef, request: unknown, answer: unknown): { other?: OtherRecord } {
  const other = otherThan(operation, fixedBy(operation as OperationName, request), answer);
  return other === undefined ? {} : { other };
}

function whatTheClaimSays(found: NotOurs, repeat: Repeat, claim: ClaimRef, request: unknown): SubmitOutcome {
  switch (found.kind) {
    case 'contradicted':
    case 'void':
      return found;
    case 'answered':
      return {
        kind: 'accepted',
        answer: found.answer,
        recorded: true,
        ...otherAnswer(claim, request, found.answer),
        ...(found.isRepeat ? { isRepeat: true } : {}),
      };
    case 'rejected':
      return { kind: 'rejected', rejection: found.rejection, owner: '', recorded: true };
    case 'sending':
      return { kind: 'unknown', reason: `an earlier attempt began to send at ${found.since}`, repeat };
    case 'other-fingerprint':
      return { kind: 'other-request' };
    default:
      return found satisfies never;
  }
}
