import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  UnknownOutcomeError,
} from '../src/service-client/index.js';
import { pause, systemClock } from '../src/clock.js';
import type { ClaimKey, KeptAnswer } from '../src/store/claim.js';
import type { LookupSays, Repeat } from '../src/protocol/decisions.js';
import type { Rejection } from '../src/protocol/messages.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow, retryLater } from './failures.js';
import type { SubmitOutcome } from './types.js';

/** How often and how long an attempt tries to hand its claim back after a proven not-sent error. */
const RELEASE_TRIES = 20;
const RELEASE_PAUSE_MS = 250;

/** One attempt to send, after its claim was marked. */
export interface Attempt {
  readonly key: ClaimKey;
  readonly owner: string;
  readonly repeat: Repeat;
  /** An earlier send of this claim may have been executed, and this one was ordered nevertheless. */
  readonly sentBefore: boolean;
  readonly quotesAgain: boolean;
  readonly quoteIsValid: () => boolean;
  readonly lookUp: (() => Promise<{ readonly lookup: LookupSays }>) | undefined;
  /** Others can do what this POST is for. */
  readonly isByOthersToo: boolean;
}

/**
 * What an error of a POST says about it. Throws only what Temporal may retry, or what ends the flow: then nothing was
 * sent.
 */
export async function outcomeFromError(
  deps: ActivityDeps,
  attempt: Attempt,
  error: unknown,
  kept: KeptAnswer | undefined,
): Promise<SubmitOutcome> {
  const { key, owner, repeat } = attempt;
  if (error instanceof NotSentError) {
    await handBack(deps, key, owner);
    if (error.reason === 'expired' && !attempt.quoteIsValid()) return { kind: 'quote-expired', by: 'us' };
    const delayMs = error instanceof RateLimitedError ? error.retryAfterMs : undefined;
    throw retryLater(delayMs === undefined ? 'not_sent' : 'rate_limited', error.message, delayMs);
  }
  const isRateExpired = error instanceof RejectedError && error.isRateExpired && !error.isAboutReference;
  if (isRateExpired && (attempt.quotesAgain || !attempt.sentBefore)) {
    // Something on the way may have sent it twice, and the first one used the rate up.
    if ((await whyDoubted(attempt)) !== undefined) return { kind: 'unknown', reason: RATE_USED, repeat: 'unknown' };
    await handBack(deps, key, owner);
    return { kind: 'quote-expired', by: 'service' };
  }
  if (attempt.sentBefore && (error instanceof RejectedError || error instanceof InvalidRequestError)) {
    const why = error instanceof RejectedError ? `${error.httpStatus}: ${error.message}` : error.message;
    return refusedRepeat(deps, key, why);
  }
  if (error instanceof InvalidRequestError) {
    await handBack(deps, key, owner);
    throw endsFlow('invalid_input', error.message);
  }
  if (error instanceof RejectedError) {
    const { httpStatus, message, code } = error;
    const rejection: Rejection = { httpStatus, message, ...(code === undefined ? {} : { code }) };
    if (error.isAboutReference || isDoubtful(attempt)) {
      // Kept with the claim: `settleUnknown` accepts it once the lookup has shown that the service has nothing.
      await tried(deps, key, () => deps.store.claims.noteRefusal(key, owner, rejection, kept));
      const why = error.isAboutReference ? 'for its reference' : await whyDoubted(attempt);
      if (why !== undefined) {
        return { kind: 'unknown', reason: `refused ${why} (${httpStatus}: ${message})`, repeat: 'unknown' };
      }
    }
    const recorded = await tried(deps, key, () => deps.store.claims.recordRejection(key, owner, rejection, kept));
    return { kind: 'rejected', rejection, owner, recorded };
  }
  if (error instanceof DuplicateReferenceError) return { kind: 'duplicate', repeat };
  // Everything else, our own bugs included: a POST may have been sent. Unknown is not failed.
  const reason = error instanceof UnknownOutcomeError ? error.reason : 'unexpected';
  deps.log.warn({ operation: key.operation, reference: key.reference, reason }, 'the outcome of a POST is unknown');
  return { kind: 'unknown', reason, repeat };
}

/**
 * Something on the way may have sent it twice, and the refusal is of the second one. Where others can pay, too, the
 * record may be theirs, and the flow looks it up.
 */
const isDoubtful = ({ lookUp, isByOthersToo }: Attempt): boolean => lookUp !== undefined && !isByOthersToo;

/** Undefined: the service has nothing under the reference, or no lookup can say so. */
async function whyDoubted({ lookUp }: Attempt): Promise<string | undefined> {
  const found = await lookUp?.().catch(() => ({ lookup: 'cannot-tell' }) as const);
  const shown = found?.lookup ?? 'no-lookup';
  if (shown === 'absent' || shown === 'no-lookup') return undefined;
  return shown === 'cannot-tell' ? 'while it cannot be looked up' : 'although the service shows it';
}

const RATE_USED = 'its rate is said to have expired, and no lookup shows that it was not executed';

/**
 * If a repeat is refused, that says nothing about the earlier send, which may be the cause of the refusal (it used up
 * the balance). So the claim stays in `sending`, and no attempt sends again by itself.
 */
export function refusedRepeat(deps: ActivityDeps, key: ClaimKey, refused: string): SubmitOutcome {
  deps.log.warn({ operation: key.operation, reference: key.reference }, 'another send was refused; unknown as before');
  return { kind: 'unknown', reason: `another send was refused (${refused})`, repeat: 'unknown', refused };
}

/** `sending → reserved` after a proven not-sent error. Tried for a while: a claim left in `sending` parks the flow. */
async function handBack(deps: ActivityDeps, key: ClaimKey, owner: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    if (await tried(deps, key, () => deps.store.claims.release(key, owner))) return;
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
