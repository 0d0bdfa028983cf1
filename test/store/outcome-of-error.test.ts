import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import type { LookupSays, SentBefore } from '../../src/protocol/decisions.js';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { depsOver, refusal, sendRequest } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const OWNER = 'the-attempt';
const REJECTION = { httpStatus: 400, message: 'no' };

describe('an attempt whose POST fails', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  interface Terms {
    readonly before?: SentBefore;
    /** What the lookup shows; before a repeat it is absent. */
    readonly lookUp?: () => Promise<LookupSays>;
    /** Once the POST has failed. */
    readonly quoteIsValid?: () => boolean;
    readonly timeScale?: number;
  }
  /** What is known of its earlier sends. */
  const sentBefore = async (key: ClaimKey, flowId: string, before: SentBefore) => {
    if (before === 'nothing') return;
    await store.claims.reserve(key, { owner: 'earlier', flowId, fingerprint: 'f' }, { flowId, statuses: [] });
    if (before === 'turned-away') await store.claims.turnAway(key, 'earlier');
    else await store.claims.orderSendAgain(key, 'ordered', { actor: 'jane', note: 'not there' });
  };
  /** A POST that was marked as sending, and has just failed. */
  const failed = async (posted: unknown, more: Terms = {}, replaced: Partial<ActivityDeps> = {}) => {
    const { before = 'nothing', lookUp, quoteIsValid = () => true, timeScale = 0.001 } = more;
    const reference = newReference('failed');
    const key = { account: 'default', operation: 'sendCrypto', reference };
    const flowId = `crypto-send/${reference}`;
    await sentBefore(key, flowId, before);
    const repeat = { newOwner: () => OWNER, repeatSettingOf: () => 'same-result' };
    const deps = depsOver(store, { ...repeat, ...replaced } as object);
    let isSent = false;
    const outcome = await submitUnderClaim(deps, {
      claim: { operation: 'sendCrypto', reference, flowId, fingerprint: 'f', pin: await pinOf(deps) },
      guard: { flowId, statuses: [] },
      request: () => sendRequest(reference),
      send: async (_, { onAnswer }) => {
        isSent = true;
        onAnswer?.({ httpStatus: 400, headers: { 'content-type': 'text/plain' }, bytes: Buffer.from('no') });
        throw posted;
      },
      ...(lookUp && { lookUp: async () => ({ lookup: isSent ? await lookUp() : 'absent' }) }),
      stillValid: () => !isSent || quoteIsValid(),
      timeScale,
    }).catch((thrown: unknown) => ({ thrown }));
    const claim = await store.claims.get(key);
    return { outcome, phase: claim?.phase, claim };
  };
  const shows = (lookup: string) => ({ lookUp: async () => lookup as LookupSays });
  const away = { lookUp: () => Promise.reject(new Error('away')) };
  /** This store, with members of its claims replaced. */
  const claimsThat = (replaced: Partial<ClaimStore>): Partial<ActivityDeps> => ({
    store: { ...store, claims: { ...store.claims, ...replaced } },
    // Pauses take no time.
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: (_ms, work) => (queueMicrotask(work), () => undefined) },
  });

  it('fails as not_sent, and releases the claim, if nothing was sent', async () => {
    const refused = await failed(new NotSentError('sendCrypto', 'refused'));
    expect(refused).toMatchObject({
      outcome: { thrown: { type: 'not_sent', nonRetryable: false } },
      phase: 'reserved',
    });
    expect(refused.claim).not.toHaveProperty('turnedAway');
  });

  it('the service turned it away: tried again, after as long as it asks, and the claim remembers that it left', async () => {
    const turnedAway = { phase: 'reserved', claim: { turnedAway: 1 } };
    const limited = await failed(new RateLimitedError('sendCrypto', 1_500));
    expect(limited).toMatchObject({
      outcome: { thrown: { type: 'rate_limited', nonRetryable: false, nextRetryDelay: 1_500 } },
      ...turnedAway,
    });
    // Without a hint it is tried again as any other.
    const unhinted = await failed(new RateLimitedError('sendCrypto', undefined));
    expect(unhinted).toMatchObject({ outcome: { thrown: { type: 'rate_limited' } }, ...turnedAway });
    const unauthorized = await failed(new TurnedAwayError('sendCrypto'));
    expect(unauthorized).toMatchObject({ outcome: { thrown: { type: 'unauthorized' } }, ...turnedAway });
  });

  it('returns quote-expired for a POST that came too late only if its quote has expired meanwhile', async () => {
    const late = new NotSentError('sendCrypto', 'expired');
    const over = { quoteIsValid: () => false };
    expect(await failed(late, over)).toMatchObject({
      outcome: { kind: 'quote-expired' },
      phase: 'reserved',
    });
    expect(await failed(late)).toMatchObject({ outcome: { thrown: { type: 'not_sent' } }, phase: 'reserved' });
    const refused = await failed(new NotSentError('sendCrypto', 'refused'), over);
    expect(refused).toMatchObject({ outcome: { thrown: { type: 'not_sent' } }, phase: 'reserved' });
  });

  it('returns unknown for an expired rate that no lookup can check, to be repeated by the setting', async () => {
    const { outcome, phase } = await failed(refusal({ isRateExpired: true }));
    expect(outcome).toMatchObject({ kind: 'unknown', repeat: 'same-result' });
    expect(phase).toBe('sending');
  });

  it('returns rejected for an expired rate if the lookup shows nothing, else unknown, not to be repeated', async () => {
    const expired = refusal({ isRateExpired: true });
    expect(await failed(expired, shows('absent'))).toMatchObject({ outcome: { kind: 'rejected' }, phase: 'rejected' });
    const open = { outcome: { kind: 'unknown', repeat: 'unknown' }, phase: 'sending' };
    for (const more of [shows('shown'), shows('other'), shows('cannot-tell'), shows('proves-nothing'), away]) {
      expect(await failed(expired, more)).toMatchObject(open);
    }
  });

  it('returns unknown for an expired rate of a repeat', async () => {
    expect(await failed(refusal({ isRateExpired: true }), { before: 'unknown' })).toMatchObject({
      outcome: { kind: 'unknown', repeat: 'unknown', refused: '400: no' },
      phase: 'sending',
    });
  });

  it('returns unknown for an expired rate in a refusal about the reference, and keeps that refusal with the claim', async () => {
    const named = refusal({ isRateExpired: true, isAboutReference: true });
    expect(await failed(named, shows('absent'))).toMatchObject({
      outcome: { kind: 'unknown', repeat: 'unknown' },
      phase: 'sending',
      claim: { rejection: REJECTION },
    });
  });

  it('returns unknown for a refused repeat, with the refusal, and no further repeat by itself', async () => {
    const unsendable = new InvalidRequestError('sendCrypto', [{ path: 'chain', problem: 'unknown' }] as never);
    for (const [error, refused] of [
      [refusal(), '400: no'],
      [unsendable, unsendable.message],
    ] as const) {
      expect(await failed(error, { before: 'unknown' })).toMatchObject({
        outcome: { kind: 'unknown', repeat: 'unknown', refused },
        phase: 'sending',
      });
    }
    const lost = new UnknownOutcomeError('sendCrypto', 'timeout');
    const { outcome } = await failed(lost, { before: 'unknown' });
    expect(outcome).toEqual({ kind: 'unknown', reason: 'timeout', repeat: 'same-result' });
  });

  it('fails for good, as invalid_input, and releases the claim, if it cannot be put on the wire', async () => {
    const { outcome, phase } = await failed(new InvalidRequestError('sendCrypto', []));
    expect(outcome).toMatchObject({ thrown: { type: 'invalid_input', nonRetryable: true } });
    expect(phase).toBe('reserved');
  });

  it('returns rejected for a refusal, which is kept with the claim, and so is the raw answer', async () => {
    for (const more of [{}, shows('absent'), { before: 'turned-away' } as const]) {
      const { outcome, claim } = await failed(refusal(), more);
      expect(outcome).toStrictEqual({ kind: 'rejected', rejection: REJECTION, owner: OWNER, recorded: true });
      expect(claim).toMatchObject({ phase: 'rejected', rejection: REJECTION, kept: { body: 'no' } });
    }
    const { outcome } = await failed(refusal({ code: 'LIMIT' }));
    expect(outcome).toMatchObject({ kind: 'rejected', rejection: { ...REJECTION, code: 'LIMIT' } });
  });

  it.each([
    ['shown', shows('shown')],
    ['other', shows('other')],
    ['proves-nothing', shows('proves-nothing')],
    ['cannot-tell', shows('cannot-tell')],
    ['an error', away],
  ])('returns unknown for a refusal if the lookup brings %s, since a copy may have been executed', async (_, more) => {
    const { outcome, claim } = await failed(refusal(), more);
    expect(outcome).toEqual({ kind: 'unknown', reason: expect.any(String), repeat: 'unknown' });
    expect(claim).toMatchObject({ phase: 'sending', rejection: REJECTION, kept: { body: 'no' } });
  });

  it('returns rejected for a refusal only if three lookups over ten seconds show nothing: one may lag', async () => {
    const answers = async (...says: LookupSays[]) => {
      const pauses: number[] = [];
      const after = (ms: number, work: () => void) => (pauses.push(ms), queueMicrotask(work), () => undefined);
      const clock = { nowMs: () => 0, monotonicMs: () => 0, after };
      const lookUp = async () => says.shift() ?? 'cannot-tell';
      const { outcome, phase } = await failed(refusal(), { lookUp, timeScale: 1 }, { clock });
      return {
        kind: (outcome as { kind?: string }).kind,
        phase,
        seconds: pauses.reduce((all, ms) => all + ms, 0) / 1_000,
      };
    };
    const open = { kind: 'unknown', phase: 'sending' };
    expect(await answers('absent', 'shown')).toMatchObject(open);
    expect(await answers('absent', 'absent', 'shown')).toMatchObject(open);
    expect(await answers('absent', 'absent', 'cannot-tell')).toMatchObject(open);
    expect(await answers('absent', 'absent', 'absent')).toEqual({ kind: 'rejected', phase: 'rejected', seconds: 10 });
  });

  it('returns duplicate for a known reference, and unknown for a lost answer or a bug of ours, with the repeat setting', async () => {
    const duplicate = await failed(new DuplicateReferenceError('sendCrypto', 409));
    expect(duplicate).toMatchObject({ outcome: { kind: 'duplicate', repeat: 'same-result' }, phase: 'sending' });
    const lost = await failed(new UnknownOutcomeError('sendCrypto', 'connection-lost'));
    expect(lost.outcome).toEqual({ kind: 'unknown', reason: 'connection-lost', repeat: 'same-result' });
    const bug = await failed(new TypeError('x is undefined'));
    expect(bug.outcome).toEqual({ kind: 'unknown', reason: 'unexpected', repeat: 'same-result' });
    expect([lost.phase, bug.phase]).toEqual(['sending', 'sending']);
  });

  it('returns the refusal with recorded: false if the store cannot write it', async () => {
    const fails = async () => {
      throw new StoreUnavailableError('SQLITE_IOERR');
    };
    const refused = await failed(refusal(), {}, claimsThat({ recordRejection: fails }));
    expect(refused.outcome).toEqual({ kind: 'rejected', rejection: REJECTION, owner: OWNER, recorded: false });
    const named = refusal({ isAboutReference: true });
    const unnoted = await failed(named, {}, claimsThat({ noteRefusal: fails }));
    expect(unnoted.outcome).toMatchObject({ kind: 'unknown', repeat: 'unknown' });
  });

  it('releases a claim by up to 20 tries, and fails as store_unavailable after those', async () => {
    const triesUntil = async (written: number) => {
      const paused: number[] = [];
      let tries = 0;
      const release = async () => {
        tries += 1;
        if (tries < written) throw new StoreUnavailableError('SQLITE_IOERR');
        return { isDone: true, phase: 'reserved', sent: 'nothing' } as const;
      };
      const { clock, ...rest } = claimsThat({ release });
      const after = (ms: number, work: () => void) => {
        paused.push(ms);
        return clock!.after(ms, work);
      };
      const { outcome } = await failed(
        new NotSentError('sendCrypto', 'refused'),
        {},
        { ...rest, clock: { ...clock!, after } },
      );
      return { outcome, tries, paused };
    };
    expect(await triesUntil(1)).toMatchObject({ outcome: { thrown: { type: 'not_sent' } }, tries: 1, paused: [] });
    expect(await triesUntil(3)).toMatchObject({
      outcome: { thrown: { type: 'not_sent' } },
      tries: 3,
      paused: [250, 250],
    });
    expect(await triesUntil(20)).toMatchObject({ outcome: { thrown: { type: 'not_sent' } }, tries: 20 });
    const never = await triesUntil(100);
    expect(never).toMatchObject({ outcome: { thrown: { type: 'store_unavailable', nonRetryable: false } }, tries: 20 });
  });
});
