import { pause, systemClock } from '../src/clock.js';
import type { OperationName } from '../src/contract/index.js';
import { expiryIn } from '../src/flows/payment-request.js';
import {
  guardsAgainstUntrusted,
  marksAtOnce,
  type Attempt,
  type Does,
  type Heard,
  type Terms,
} from '../src/protocol/attempt.js';
import type { LookupSays } from '../src/protocol/decisions.js';
import { NotSentError, type CallOptions, type ServiceAnswer } from '../src/service-client/index.js';
import type { ClaimKey, ContradictionGuard, KeptAnswer, Reservation } from '../src/store/claim.js';
import { recordAnswer, requireOwnDeployment } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { storing } from './failures.js';
import { EVENT_CAME, postSays, rejectionOf } from './outcome-of-error.js';
import { lookupOfPaid } from './status-lookups.js';
import { lookTimer, sendTimer, untilNextMiss } from './timing.js';
import type { ClaimRef, PaidReading } from './types.js';

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
  readonly lookUpFirst?: (beforeEachLookup?: () => void) => Promise<PaidReading>;
  /** @default 1 */
  readonly timeScale?: number;
}

/** One attempt to send, with what it has heard so far. */
export interface Sending<Request> {
  readonly deps: ActivityDeps;
  readonly submission: Submission<Request>;
  readonly key: ClaimKey;
  readonly owner: string;
  readonly terms: Terms;
  /** Absent if it cannot be put on the wire. */
  readonly request: Request | undefined;
  readonly paymentHash: string | undefined;
  /** Why its request must not be sent. */
  problem: string | undefined;
  /** False once its first byte would leave too long after its claim was marked. */
  isInTime: () => boolean;
  /** False once what was looked up before it may have changed. Absent if nothing was. */
  isFresh?: () => boolean;
  found?: Reservation;
  /** What the lookup said last; with an answer, if it shows the POST. */
  looked?: LookupSays;
  paid?: PaidReading | undefined;
  answer?: unknown;
  /** Why there is no answer to the POST. */
  error?: unknown;
  kept?: KeptAnswer | undefined;
  /** The last write after the service's answer was made. */
  isWritten?: boolean;
  isHeldBack?: boolean;
}

/** How often and how long an attempt tries to hand its claim back. */
const RELEASE_TRIES = 20;
const RELEASE_PAUSE_MS = 250;

type Step = Exclude<Does, 'report' | 'try-later' | 'refuse-request'>;

export const isStep = (does: Does): does is Step =>
  does !== 'report' && does !== 'try-later' && does !== 'refuse-request';

/** Does one step of an attempt, and says what came of it. What it throws before the POST, Temporal tries again. */
export async function heardOf<Request>(sending: Sending<Request>, attempt: Attempt, does: Step): Promise<Heard> {
  const { deps, submission, key, owner, terms } = sending;
  const { claims } = deps.store;
  const { flowId, pin } = submission.claim;
  switch (does) {
    case 'read-claim': {
      const ours = await requireOwnDeployment(deps, submission.claim);
      return { of: 'claim', isThere: pin.epoch !== ours.epoch || (await storing(() => claims.get(key))) !== undefined };
    }
    case 'reserve':
      return reserve(sending);
    case 'look-before':
      return { of: 'lookup', says: await lookBefore(sending, attempt) };
    case 'look-first':
      sending.paid = await submission.lookUpFirst?.(() => (sending.isFresh = lookTimer(deps)));
      return { of: 'paid', says: sending.paid?.says ?? 'not-paid' };
    case 'check-quote':
      return { of: 'quote', isOver: submission.stillValid?.() === false };
    case 'take-debt': {
      const isOurs = await takesDebt(sending);
      if (!isOurs) sending.problem ??= OTHER_DEBT;
      return { of: 'debt', isOurs };
    }
    case 'mark': {
      sending.isInTime = sendTimer(deps);
      // A repeat of what was turned away is ordered by no person: an event that came since may be of an earlier copy.
      const isWide = guardsAgainstUntrusted(terms, attempt) && submission.guard.orUntrusted !== true;
      const guard = isWide ? { ...submission.guard, orUntrusted: true } : submission.guard;
      return { of: 'mark', finds: await storing(() => claims.markSending(key, owner, guard)) };
    }
    case 'post':
      return { of: 'post', says: await post(sending) };
    case 'note-refusal':
      return tried(sending, () => claims.noteRefusal(key, owner, rejectionOf(sending.error), sending.kept));
    case 'look-after':
      return { of: 'lookup', says: await lookAfter(sending, attempt) };
    case 'release':
      return handBack(sending, () => claims.release(key, owner));
    case 'turn-away':
      return handBack(sending, () => claims.turnAway(key, owner));
    case 'record':
      return tried(sending, () => recordAnswer(deps, key, flowId, sending.answer, sending.kept));
    case 'reject':
      return tried(sending, () => claims.recordRejection(key, owner, rejectionOf(sending.error), sending.kept));
    case 'hold-back': {
      const note = attempt.outcome === 'duplicate' ? SOMETHING_ELSE : EVENT_CAME;
      await storing(() => claims.recordDecision(key, 'held-back', { actor: 'flow', note }));
      sending.isHeldBack = true;
      return { of: 'write', isDone: true };
    }
    default:
      return does satisfies never;
  }
}

const SOMETHING_ELSE = 'the service has something else under this reference';
const OTHER_DEBT = 'its payment request is used for another payment already, and can be paid only once';

/**
 * One transaction: the right to send, no trusted event that shows it done, and `sending` (or only a reservation if
 * something is to be asked first). If its result is lost, the next attempt treats `sending` as unknown: slow, but safe.
 */
async function reserve<Request>(sending: Sending<Request>): Promise<Heard> {
  const { deps, submission, key, owner, terms } = sending;
  const { flowId, fingerprint, pin, operation } = submission.claim;
  sending.isInTime = sendTimer(deps);
  const goesOn = marksAtOnce(terms) && submission.stillValid?.() !== false;
  const asks = { owner, flowId, fingerprint, epoch: pin.epoch, store: pin.store };
  const found = await storing(() => deps.store.claims.reserve(key, asks, goesOn ? submission.guard : undefined));
  sending.found = found;
  if ('takenOver' in found && found.takenOver) deps.metrics?.count('towline_claims_taken_over_total', { operation });
  const before = (found.kind === 'reserved' ? found.sentBefore : undefined) ?? 'nothing';
  if (found.kind !== 'other-fingerprint') return { of: 'reserve', finds: found.kind, before };
  const there = await storing(() => deps.store.claims.get(key));
  if (there?.flowId !== flowId || there.sent === 'nothing') return { of: 'reserve', finds: 'other-request', before };
  // Ordered before a reset, of which this run knows nothing: what was sent is unknown, whatever was ordered since.
  sending.found = { kind: 'sending', since: there.sendingAt ?? there.reservedAt };
  return { of: 'reserve', finds: 'sending', before };
}

/** An earlier send may have been executed. */
async function lookBefore<Request>(sending: Sending<Request>, { misses }: Attempt): Promise<LookupSays> {
  const { deps, submission } = sending;
  if (misses > 0) await untilNextMiss(deps, submission.timeScale ?? 1);
  sending.isFresh = lookTimer(deps);
  const found = await submission.lookUp?.();
  sending.answer = found?.answer;
  return (sending.looked = found?.lookup ?? 'no-lookup');
}

/** Whether a refused POST is shown. A payment that others can make, too, may be shown as theirs. */
async function lookAfter<Request>(sending: Sending<Request>, { misses }: Attempt): Promise<LookupSays> {
  const { lookUp, lookUpFirst, timeScale = 1 } = sending.submission;
  if (misses > 0) await untilNextMiss(sending.deps, timeScale);
  const ask = async (): Promise<LookupSays> =>
    lookUpFirst === undefined ? ((await lookUp?.())?.lookup ?? 'no-lookup') : lookupOfPaid(await lookUpFirst());
  return (sending.looked = await ask().catch(() => 'cannot-tell' as const));
}

/** A payment over Lightning settles one debt: this one needs a payment request of its own. Durable before any send. */
const takesDebt = async <Request>({ deps, key, paymentHash }: Sending<Request>): Promise<boolean> =>
  paymentHash === undefined || storing(() => deps.store.debts.take(paymentHash, key));

async function post<Request>(sending: Sending<Request>): Promise<ReturnType<typeof postSays>> {
  const { deps, submission, key, request } = sending;
  const operation = submission.claim.operation as OperationName;
  const isQuoteOver = () => submission.stillValid?.() === false;
  const isInTime = () => sending.isInTime() && sending.isFresh?.() !== false;
  const stillValid = () => !isQuoteOver() && isInTime() && !hasExpired(deps, operation, request);
  delete sending.answer;
  try {
    // The disk may have been slow, or the whole process may have been suspended.
    if (request === undefined || !stillValid()) throw new NotSentError(operation, 'expired');
    const onAnswer = (came: ServiceAnswer) => (sending.kept = verbatim(came));
    sending.answer = await submission.send(request, { stillValid, onAnswer });
    return 'accepted';
  } catch (error) {
    sending.error = error;
    return postSays(deps, key, error, isQuoteOver);
  }
}

/** What it names can no longer be paid: checked when it is built, and again right before its first byte leaves. */
export function hasExpired({ clock = systemClock }: ActivityDeps, operation: string, request: unknown): boolean {
  const expiresAtMs = expiryIn(operation, request);
  return expiresAtMs !== undefined && expiresAtMs <= clock.nowMs();
}

const MOST_KEPT_BYTES = 64 * 1_024;

/** The answer for the caller, byte for byte. Too large, or not text: the caller gets what the flow understood. */
function verbatim({ httpStatus, headers, bytes }: ServiceAnswer): KeptAnswer | undefined {
  const body = Buffer.from(bytes).toString('utf8');
  if (bytes.length > MOST_KEPT_BYTES || Buffer.byteLength(body) !== bytes.length) return undefined;
  return { httpStatus, contentType: headers['content-type'] ?? 'application/json', body };
}

/** `sending → reserved`. Tried for a while: a claim left in `sending` parks the flow. */
async function handBack<Request>(sending: Sending<Request>, write: () => Promise<unknown>): Promise<Heard> {
  for (let tries = 1; ; tries += 1) {
    const heard = await tried(sending, write);
    if (sending.isWritten === true || tries === RELEASE_TRIES) return heard;
    await pause(sending.deps.clock ?? systemClock, RELEASE_PAUSE_MS);
  }
}

/** A write after the service's answer: a failure of the store must never hide that answer. */
async function tried<Request>(sending: Sending<Request>, write: () => Promise<unknown>): Promise<Heard> {
  const { operation, reference } = sending.key;
  try {
    await write();
    sending.isWritten = true;
  } catch {
    sending.isWritten = false;
    sending.deps.log.warn({ operation, reference }, 'a claim could not be written after the answer');
  }
  return { of: 'write', isDone: sending.isWritten };
}
