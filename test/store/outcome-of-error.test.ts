import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import { outcomeFromError, refusedRepeat, tried, type Attempt } from '../../activities/outcome-of-error.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import type { LookupSays } from '../../src/protocol/decisions.js';
import type { ClaimStore } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { depsOver, refusal } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const OWNER = 'the-attempt';
const REJECTION = { httpStatus: 400, message: 'no' };

describe('what an error of a POST says about it', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  /** A POST that was marked as sending, and has just failed. */
  const failed = async (posted: unknown, more: Partial<Attempt> = {}, replaced: Partial<ActivityDeps> = {}) => {
    const key = { account: 'default', operation: 'sendCrypto', reference: newReference('failed') };
    const flowId = `crypto-send/${key.reference}`;
    await store.claims.reserve(key, { owner: OWNER, flowId, fingerprint: 'f' }, { flowId, statuses: [] });
    const attempt: Attempt = {
      key,
      owner: OWNER,
      repeat: 'same-result',
      before: 'nothing',
      quoteIsValid: () => true,
      lookUp: undefined,
      timeScale: 0.001,
      ...more,
    };
    const kept = { httpStatus: 400, contentType: 'text/plain', body: 'no' };
    const outcome = await outcomeFromError(depsOver(store, replaced as object), attempt, posted, kept).catch(
      (thrown: unknown) => ({ thrown }),
    );
    const claim = await store.claims.get(key);
    return { outcome, phase: claim?.phase, claim };
  };
  const shows = (lookup: string) => ({ lookUp: async () => lookup }) as unknown as Partial<Attempt>;
  const away = { lookUp: () => Promise.reject(new Error('away')) };
  /** This store, with members of its claims replaced. */
  const claimsThat = (replaced: Partial<ClaimStore>): Partial<ActivityDeps> => ({
    store: { ...store, claims: { ...store.claims, ...replaced } },
    // Pauses take no time.
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: (_ms, work) => (queueMicrotask(work), () => undefined) },
  });

  it('nothing was sent: tried again, and the claim is free for that', async () => {
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

  it('it came too late: another quote is needed only if ours has ended meanwhile', async () => {
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

  it('its rate has expired at the service, and no lookup can say that no copy of it used the rate up: unknown, and repeated only if that is safe', async () => {
    const { outcome, phase } = await failed(refusal({ isRateExpired: true }));
    expect(outcome).toMatchObject({ kind: 'unknown', repeat: 'same-result' });
    expect(phase).toBe('sending');
  });

  it('its rate has expired at the service: refused if the lookup shows nothing, else unknown, and not repeated', async () => {
    const expired = refusal({ isRateExpired: true });
    expect(await failed(expired, shows('absent'))).toMatchObject({ outcome: { kind: 'rejected' }, phase: 'rejected' });
    const open = { outcome: { kind: 'unknown', repeat: 'unknown' }, phase: 'sending' };
    for (const more of [shows('shown'), shows('other'), shows('cannot-tell'), shows('proves-nothing'), away]) {
      expect(await failed(expired, more)).toMatchObject(open);
    }
  });

  it('its rate has expired, of a repeat: that says nothing about the send before it', async () => {
    expect(await failed(refusal({ isRateExpired: true }), { before: 'unknown' })).toMatchObject({
      outcome: { kind: 'unknown', repeat: 'unknown', refused: '400: no' },
      phase: 'sending',
    });
  });

  it('its rate has expired, in words about the reference: looked up as any refusal of the reference', async () => {
    const named = refusal({ isRateExpired: true, isAboutReference: true });
    expect(await failed(named, shows('absent'))).toMatchObject({
      outcome: { kind: 'unknown', repeat: 'unknown', reason: 'refused for its reference (400: no)' },
      phase: 'sending',
      claim: { rejection: REJECTION },
    });
  });

  it('a repeat is refused: unknown as before, with the refusal for people, and not sent again by itself', async () => {
    const unsendable = new InvalidRequestError('sendCrypto', [{ path: 'chain', problem: 'unknown' }] as never);
    for (const [error, refused] of [
      [refusal(), '400: no'],
      [unsendable, unsendable.message],
    ] as const) {
      expect(await failed(error, { before: 'unknown' })).toMatchObject({
        outcome: { kind: 'unknown', reason: `another send was refused (${refused})`, repeat: 'unknown', refused },
        phase: 'sending',
      });
    }
    const lost = new UnknownOutcomeError('sendCrypto', 'timeout');
    const { outcome } = await failed(lost, { before: 'unknown' });
    expect(outcome).toEqual({ kind: 'unknown', reason: 'timeout', repeat: 'same-result' });
  });

  it('it cannot be put on the wire: its flow ends, and nothing was sent', async () => {
    const { outcome, phase } = await failed(new InvalidRequestError('sendCrypto', []));
    expect(outcome).toMatchObject({ thrown: { type: 'invalid_input', nonRetryable: true } });
    expect(phase).toBe('reserved');
  });

  it('it is refused: that is kept with the claim, and with the answer', async () => {
    for (const more of [{}, shows('absent'), { before: 'turned-away' } as const]) {
      const { outcome, claim } = await failed(refusal(), more);
      expect(outcome).toStrictEqual({ kind: 'rejected', rejection: REJECTION, owner: OWNER, recorded: true });
      expect(claim).toMatchObject({ phase: 'rejected', rejection: REJECTION, kept: { body: 'no' } });
    }
    const { outcome } = await failed(refusal({ code: 'LIMIT' }));
    expect(outcome).toMatchObject({ kind: 'rejected', rejection: { ...REJECTION, code: 'LIMIT' } });
  });

  it.each([
    ['shown', shows('shown'), 'refused although the service shows it (400: no)'],
    ['another one', shows('other'), 'refused although the service shows something under its reference (400: no)'],
    ['what proves nothing', shows('proves-nothing'), 'refused and its record proves nothing (400: no)'],
    ['an unclear answer', shows('cannot-tell'), 'refused while it cannot be looked up (400: no)'],
    ['an error', away, 'refused while it cannot be looked up (400: no)'],
  ])(
    'it is refused, and its lookup brings %s: a copy may have been executed, so it is unknown',
    async (_, more, reason) => {
      const { outcome, claim } = await failed(refusal(), more);
      expect(outcome).toEqual({ kind: 'unknown', reason, repeat: 'unknown' });
      expect(claim).toMatchObject({ phase: 'sending', rejection: REJECTION, kept: { body: 'no' } });
    },
  );

  it('it is refused, and its lookup shows nothing once or twice: a lookup may lag, so three of them over ten seconds must show nothing', async () => {
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

  it('it is known already, or its answer was lost, or we have a bug: unknown, and repeated only if that is safe', async () => {
    const duplicate = await failed(new DuplicateReferenceError('sendCrypto', 409));
    expect(duplicate).toMatchObject({ outcome: { kind: 'duplicate', repeat: 'same-result' }, phase: 'sending' });
    const lost = await failed(new UnknownOutcomeError('sendCrypto', 'connection-lost'));
    expect(lost.outcome).toEqual({ kind: 'unknown', reason: 'connection-lost', repeat: 'same-result' });
    const bug = await failed(new TypeError('x is undefined'));
    expect(bug.outcome).toEqual({ kind: 'unknown', reason: 'unexpected', repeat: 'same-result' });
    expect([lost.phase, bug.phase]).toEqual(['sending', 'sending']);
  });

  it('a store that fails never hides the refusal', async () => {
    const fails = async () => {
      throw new StoreUnavailableError('SQLITE_IOERR');
    };
    const refused = await failed(refusal(), {}, claimsThat({ recordRejection: fails }));
    expect(refused.outcome).toEqual({ kind: 'rejected', rejection: REJECTION, owner: OWNER, recorded: false });
    const named = refusal({ isAboutReference: true });
    const unnoted = await failed(named, {}, claimsThat({ noteRefusal: fails }));
    expect(unnoted.outcome).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('for its reference') });
  });

  it('a claim is handed back by several tries, and no try follows one that was written', async () => {
    const triesUntil = async (written: number) => {
      const paused: number[] = [];
      let tries = 0;
      const release = async () => {
        tries += 1;
        if (tries < written) throw new StoreUnavailableError('SQLITE_IOERR');
        return true;
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

  it('whether a write after the answer was made is known', async () => {
    const key = { account: 'default', operation: 'sendCrypto', reference: 'r' };
    const deps = depsOver(store);
    let written = 0;
    expect(await tried(deps, key, async () => (written += 1))).toBe(true);
    expect(written).toBe(1);
    expect(await tried(deps, key, () => Promise.reject(new Error('full')))).toBe(false);
    expect(refusedRepeat(deps, key, '403: no')).toEqual({
      kind: 'unknown',
      reason: 'another send was refused (403: no)',
      repeat: 'unknown',
      refused: '403: no',
    });
  });
});
