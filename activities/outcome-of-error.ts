import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../src/service-client/index.js';
import { pause, systemClock } from '../src/clock.js';
import type { ClaimKey, KeptAnswer } from '../src/store/claim.js';
import { refusalStands, type LookupSays, type Repeat, type SentBefore } from '../src/protocol/decisions.js';
import type { Rejection } from '../src/protocol/messages.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow, retryLater, turnedAway } from './failures.js';
import { absentForLong } from './timing.js';
import type { SubmitOutcome } from './types.js';

/** How often and how long an attempt tries to hand its claim back. */
const RELEASE_TRIES = 20;
const RELEASE_PAUSE_MS = 250;

/** One attempt to send, after its claim was marked. */
export interface Attempt {
  readonly key: ClaimKey;
  readonly owner: string;
  readonly repeat: Repeat;
  readonly before: SentBefore;
  readonly quoteIsValid: () => boolean;
  /** Whether the service shows it; absent if nothing can say that. */
  readonly lookUp: (() => Promise<LookupSays>) | undefined;
  readonly timeScale: number;
}

/**
 * What an error of a POST says about it. Throws only what Temporal may retry, or what ends the flow: then nothing was
 * executed.
 */
export async function outcomeFromError(
  deps: ActivityDeps,
  attempt: Attempt,
  error: unknown,
  kept: KeptAnswer | undefined,
): Promise<SubmitOutcome> {
  const { key, owner, repeat, before } = attempt;
  const { claims } = deps.store;
  if (error instanceof NotSentError) {
    await handBack(deps, key, () => claims.release(key, owner));
    if (error.reason === 'expired' && !attempt.quoteIsValid()) return { kind: 'quote-expired' };
    throw retryLater('not_sent', error.message);
  }
  if (error instanceof TurnedAwayError) {
    await handBack(deps, key, () => claims.turnAway(key, owner));
    throw turnedAway(error);
  }
  if (before === 'unknown' && error instanceof RejectedError) {
    return refusedRepeat(deps, key, `${error.httpStatus}: ${error.message}`);
  }
  if (before !== 'nothing' && error instanceof InvalidRequestError) return refusedRepeat(deps, key, error.message);
  if (error instanceof InvalidRequestError) {
    await handBack(deps, key, () => claims.release(key, owner));
    throw endsFlow('invalid_input', error.message);
  }
  if (error instanceof RejectedError) return outcomeOfRefusal(deps, attempt, error, kept);
  if (error instanceof DuplicateReferenceError) return { kind: 'duplicate', repeat };
  // Everything else, our own bugs included: a POST may have been sent. Unknown is not failed.
  const reason = error instanceof UnknownOutcomeError ? reasonOf(error) : 'unexpected';
  deps.log.warn({ operation: key.operation, reference: key.reference, reason }, 'the outcome of a POST is unknown');
  return { kind: 'unknown', reason, repeat };
}

/** Shown to a person, with the text of the answer, which may not be the service's own. */
function reasonOf({ reason, httpStatus, text }: UnknownOutcomeError): string {
  const status = httpStatus === undefined ? '' : `, HTTP ${httpStatus}`;
  return `${reason}${status}${text === undefined ? '' : `: ${text}`}`;
}

/**
 * The refusal is kept with the claim before it is confirmed: `settleUnknown` accepts it once the lookup has shown nothing
 * for the whole window.
 */
async function outcomeOfRefusal(
  deps: ActivityDeps,
  attempt: Attempt,
  { httpStatus, message, code, isAboutReference, isRateExpired }: RejectedError,
  kept: KeptAnswer | undefined,
): Promise<SubmitOutcome> {
  const { key, owner, before, timeScale, lookUp } = attempt;
  const rejection: Rejection = { httpStatus, message, ...(code === undefined ? {} : { code }) };
  if (lookUp !== undefined || isAboutReference) {
    await tried(deps, key, () => deps.store.claims.noteRefusal(key, owner, rejection, kept));
  }
  const lookup =
    lookUp === undefined || isAboutReference
      ? 'no-lookup'
      : await absentForLong<LookupSays>(deps, timeScale, () => lookUp().catch(() => 'cannot-tell' as const));
  if (refusalStands({ lookup, before, isAboutReference, isRateExpired })) {
    const recorded = await tried(deps, key, () => deps.store.claims.recordRejection(key, owner, rejection, kept));
    return { kind: 'rejected', rejection, owner, recorded };
  }
  const why = isAboutReference ? 'for its reference' : WHY_NOT_REJECTED[lookup];
  // With a new rate, and if the service is known to take a repeat; every other refusal would be the same again.
  const isByRate = isRateExpired && !isAboutReference && lookup === 'no-lookup';
  const repeat = isByRate ? attempt.repeat : 'unknown';
  return { kind: 'unknown', reason: `refused ${why} (${httpStatus}: ${message})`, repeat };
}

const WHY_NOT_REJECTED: Readonly<Record<LookupSays, string>> = {
  shown: 'although the service shows it',
  other: 'although the service shows something under its reference',
  absent: 'and not shown',
  'cannot-tell': 'while it cannot be looked up',
  'proves-nothing': 'and its record proves nothing',
  'no-lookup': 'for its rate, which an earlier copy of it may have used up',
};

/**
 * If a repeat is refused, that says nothing about the earlier send, which may be the cause of the refusal (it used up
 * the balance). So the claim stays in `sending`, and no attempt sends again by itself.
 */
export function refusedRepeat(deps: ActivityDeps, key: ClaimKey, refused: string): SubmitOutcome {
  deps.log.warn({ operation: key.operation, reference: key.reference }, 'another send was refused; unknown as before');
  return { kind: 'unknown', reason: `another send was refused (${refused})`, repeat: 'unknown', refused };
}

/** `sending → reserved`. Tried for a while: a claim left in `sending` parks the flow. */
async function handBack(deps: ActivityDeps, key: ClaimKey, write: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    if (await tried(deps, key, write)) return;
    if (tries === RELEASE_TRIES) throw retryLater('store_unavailable', 'the claim could not be handed back');
    await pause(deps.clock ?? systemClock, RELEASE_PAUSE_MS);
  }
}

/** A write after the service's answer: a failure of the store must never hide that answer. */
export async function tried(deps: ActivityDeps, key: ClaimKey, write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch {
    deps.log.warn(
      { operation: key.operation, reference: key.reference },
      'a claim could not be written after the answer',
    );
    return false;
  }
}
