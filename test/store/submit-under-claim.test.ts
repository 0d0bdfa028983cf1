import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import { systemClock } from '../../src/clock.js';
import type { ClaimStore } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { depsOver, sendRequest } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const ANSWER = { id: 'S-1' };
const REFUSAL = { httpStatus: 400, message: 'no', fields: [], isRateExpired: false, isAboutReference: false };

describe('submitUnderClaim', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  /** One claim, any number of attempts, and the number of POSTs that left. */
  const claimed = (replaced: Partial<ActivityDeps> = {}) => {
    const reference = newReference('submit');
    const flowId = `crypto-send/${reference}`;
    const key = { account: 'default', operation: 'sendCrypto', reference };
    const deps = depsOver(store, replaced as object);
    const sent = { times: 0 };
    const attempt = async (send: () => Promise<unknown> = async () => ANSWER, more = {}) =>
      submitUnderClaim(deps, {
        claim: { operation: 'sendCrypto', reference, flowId, fingerprint: 'f', pin: await pinOf(deps) },
        guard: { flowId, statuses: [] },
        request: () => sendRequest(reference),
        send: () => {
          sent.times += 1;
          return send();
        },
        ...more,
      });
    return { key, flowId, sent, attempt, phase: async () => (await store.claims.get(key))?.phase };
  };
  const failing = (error: Error) => async () => {
    throw error;
  };
  /** This store, with one member of its claims replaced. */
  const claimsThat = (replaced: (claims: ClaimStore) => Partial<ClaimStore>): Partial<ActivityDeps> => ({
    store: { ...store, claims: { ...store.claims, ...replaced(store.claims) } },
  });

  it('sends once, and returns the answer to every later attempt', async () => {
    const { sent, attempt, phase } = claimed();
    expect(await attempt()).toEqual({ kind: 'accepted', answer: ANSWER, recorded: true });
    expect(await attempt()).toEqual({ kind: 'accepted', answer: ANSWER, recorded: true });
    expect(sent.times).toBe(1);
    expect(await phase()).toBe('answered');
  });

  it.each([
    ['an outcome that is unknown', new UnknownOutcomeError('sendCrypto', 'no-answer' as never)],
    ['a bug of ours', new TypeError('x is undefined')],
  ])('does not send again after %s: the outcome is unknown', async (_what, error) => {
    const { sent, attempt, phase } = claimed();
    expect(await attempt(failing(error))).toMatchObject({ kind: 'unknown', repeat: 'unknown' });
    expect(await attempt()).toMatchObject({ kind: 'unknown' });
    expect(sent.times).toBe(1);
    expect(await phase()).toBe('sending');
  });

  it('returns duplicate for a reference that the service knows already, and leaves the claim in sending', async () => {
    const { sent, attempt, phase } = claimed({ repeatSettingOf: () => 'rejected' });
    const duplicate = failing(new DuplicateReferenceError('sendCrypto', 409));
    expect(await attempt(duplicate)).toEqual({ kind: 'duplicate', repeat: 'rejected' });
    expect(await attempt()).toMatchObject({ kind: 'unknown', repeat: 'rejected' });
    expect(sent.times).toBe(1);
    expect(await phase()).toBe('sending');
  });

  it('fails as not_sent if nothing was sent, and the next attempt sends', async () => {
    const { sent, attempt, phase } = claimed();
    const unsent = failing(new NotSentError('sendCrypto', 'refused'));
    await expect(attempt(unsent)).rejects.toMatchObject({ type: 'not_sent', nextRetryDelay: undefined });
    expect(await phase()).toBe('reserved');
    expect(await attempt()).toEqual({ kind: 'accepted', answer: ANSWER, recorded: true });
    expect(sent.times).toBe(2);
  });

  it.each([
    ['rate_limited', new RateLimitedError('sendCrypto', 1_500), 1_500],
    ['unauthorized', new TurnedAwayError('sendCrypto'), undefined],
  ])(
    'fails as %s if the service turned it away, and the next attempt is a repeat: it sends only if the lookup does not show it',
    async (type, error, delayMs) => {
      const { sent, attempt, phase } = claimed();
      await expect(attempt(failing(error))).rejects.toMatchObject({ type, nextRetryDelay: delayMs });
      expect(await phase()).toBe('reserved');
      const shows = (lookup: string) => ({ lookUp: async () => ({ lookup, answer: ANSWER }) });
      await expect(attempt(undefined, shows('cannot-tell'))).rejects.toMatchObject({ type: 'not_sent' });
      expect(sent.times).toBe(1);
      expect(await attempt(undefined, shows('absent'))).toMatchObject({ kind: 'accepted', isRepeat: true });
      expect(sent.times).toBe(2);
      const shown = claimed();
      await expect(shown.attempt(failing(error))).rejects.toMatchObject({ type });
      expect(await shown.attempt(undefined, shows('shown'))).toMatchObject({ kind: 'accepted', byLookup: true });
      expect(shown.sent.times).toBe(1);
    },
  );

  it.each([
    ['a trusted', 'capability'],
    ['an untrusted', null],
  ] as const)(
    'does not send again what the service turned away against %s event of its flow, until a person orders it',
    async (_, proof) => {
      const { key, flowId, sent, attempt, phase } = claimed();
      await expect(attempt(failing(new RateLimitedError('sendCrypto', 1)))).rejects.toThrow();
      const event = anEvent({ flowId, status: 'PROCESSING', contentHash: flowId, proof });
      await store.inbox.receive(event);
      expect(await attempt(undefined, { guard: { flowId } })).toMatchObject({ kind: 'unknown', repeat: 'unknown' });
      expect(await phase()).toBe('sending');
      expect(sent.times).toBe(1);
      await store.claims.orderSendAgain(key, 'ordered', { actor: 'jane', note: '' });
      expect(await attempt(undefined, { guard: { flowId, besides: [event.id] } })).toMatchObject({ kind: 'accepted' });
    },
  );

  it('returns rejected if the service turned it away, and then refuses it', async () => {
    const { attempt, phase } = claimed();
    await expect(attempt(failing(new RateLimitedError('sendCrypto', 1)))).rejects.toThrow();
    expect(await attempt(failing(new RejectedError('sendCrypto', REFUSAL)))).toMatchObject({ kind: 'rejected' });
    expect(await phase()).toBe('rejected');
  });

  it('returns rejected for a refusal of the service, to every later attempt too', async () => {
    const { sent, attempt } = claimed();
    const rejected = { kind: 'rejected', rejection: { httpStatus: 400, message: 'no' }, recorded: true };
    expect(await attempt(failing(new RejectedError('sendCrypto', REFUSAL)))).toMatchObject(rejected);
    expect(await attempt()).toMatchObject(rejected);
    expect(sent.times).toBe(1);
  });

  it('fails as invalid_input, for good, if the request cannot be put on the wire', async () => {
    const { attempt, phase } = claimed();
    const invalid = failing(new InvalidRequestError('sendCrypto', []));
    await expect(attempt(invalid)).rejects.toMatchObject({ type: 'invalid_input', nonRetryable: true });
    expect(await phase()).toBe('reserved');
  });

  it('returns unknown if an ordered repeat is refused, since that proves nothing about the send before it', async () => {
    const { key, attempt, phase } = claimed({ repeatSettingOf: () => 'same-result' });
    await attempt(failing(new TypeError('cut off')));
    await store.claims.orderSendAgain(key, 'ordered', { actor: 'jane', note: '' });
    const refused = failing(new RejectedError('sendCrypto', REFUSAL));
    expect(await attempt(refused)).toMatchObject({ kind: 'unknown', refused: '400: no', repeat: 'unknown' });
    expect(await phase()).toBe('sending');
  });

  it.each(['REFUNDED', 'refunded'])('does not send against a trusted event of the flow with %s', async (status) => {
    const { flowId, sent, attempt } = claimed();
    await store.inbox.receive(anEvent({ flowId, status, contentHash: flowId }));
    const guard = { flowId, statuses: ['COMPLETED', 'REFUNDED'] };
    expect(await attempt(undefined, { guard })).toEqual({ kind: 'contradicted' });
    expect(sent.times).toBe(0);
  });

  /** The first send's answer is lost, another send is ordered, and an event lies in the inbox by then. */
  const orderedAgainst = async (
    status: string | null,
    shownBy: { readonly statuses?: readonly string[] } = {},
    more = {},
  ) => {
    const { key, flowId, sent, attempt } = claimed();
    await attempt(failing(new TypeError('cut off')));
    await store.claims.orderSendAgain(key, 'ordered', { actor: 'jane', note: '' });
    await store.inbox.receive(anEvent({ flowId, status, contentHash: flowId }));
    const { kind: outcome } = await attempt(undefined, { guard: { flowId, ...shownBy }, ...more });
    return { outcome, sent: sent.times };
  };

  it.each([
    ['PROCESSING', 'PROCESSING'],
    ['a word that is not known', 'A_WORD_OF_LATER'],
    ['nothing', null],
  ])(
    'does not send again by an order when a trusted event has %s: any event shows that the service has it',
    async (_, status) => {
      expect(await orderedAgainst(status)).toEqual({ outcome: 'contradicted', sent: 1 });
    },
  );

  it('sends again by an order against a trusted event that does not show it done, if others can make the payment', async () => {
    const more = { lookUpFirst: async () => ({ says: 'not-paid' }) };
    const shownBy = { statuses: ['COMPLETED'] };
    expect(await orderedAgainst('PENDING', shownBy, more)).toEqual({ outcome: 'accepted', sent: 2 });
    expect(await orderedAgainst('COMPLETED', shownBy, more)).toEqual({ outcome: 'contradicted', sent: 1 });
  });

  it('returns quote-expired, and leaves the claim reserved, if the quote expires before the claim is marked, or while it is', async () => {
    for (const validFor of [0, 1]) {
      const { sent, attempt, phase } = claimed();
      let asked = 0;
      const stillValid = () => (asked += 1) <= validFor;
      expect(await attempt(undefined, { stillValid })).toEqual({ kind: 'quote-expired' });
      expect(sent.times).toBe(0);
      expect(await phase()).toBe('reserved');
    }
  });

  it('sends nothing, and leaves the claim reserved, if the process stood still after it reserved the claim', async () => {
    let standstillMs = 0;
    const { sent, attempt, phase } = claimed({
      monotonicMs: () => standstillMs,
      ...claimsThat((claims) => ({
        async reserve(...asked) {
          const found = await claims.reserve(...asked);
          standstillMs += 60_000;
          return found;
        },
      })),
    });
    await expect(attempt()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    expect(sent.times).toBe(0);
    expect(await phase()).toBe('reserved');
  });

  it('lets the POST know when it is too late for its first byte, even after the machine slept', async () => {
    let sleptMs = 0;
    const { attempt, phase } = claimed({ clock: { ...systemClock, nowMs: () => Date.now() + sleptMs } });
    const send = async (_: unknown, { stillValid }: { stillValid: () => boolean }) => {
      expect(stillValid()).toBe(true);
      sleptMs = 60_000;
      expect(stillValid()).toBe(false);
      throw new NotSentError('sendCrypto', 'expired');
    };
    await expect(attempt(undefined, { send })).rejects.toMatchObject({ type: 'not_sent' });
    expect(await phase()).toBe('reserved');
  });

  it('sends nothing on what was looked up before the machine slept, and looks again', async () => {
    let sleptMs = 0;
    const clock = { ...systemClock, nowMs: () => Date.now() + sleptMs };
    const { sent, attempt, phase } = claimed({ clock });
    const sleeping = async (beforeEachLookup: () => void) => {
      beforeEachLookup();
      sleptMs += 600_000;
      return { says: 'not-paid' };
    };
    await expect(attempt(undefined, { lookUpFirst: sleeping })).rejects.toMatchObject({ type: 'not_sent' });
    expect([sent.times, await phase()]).toEqual([0, 'reserved']);
    await expect(attempt(failing(new TurnedAwayError('sendCrypto')))).rejects.toThrow();
    const lookUp = async () => {
      sleptMs += 600_000;
      return { lookup: 'absent' };
    };
    await expect(attempt(undefined, { lookUp, timeScale: 0.001 })).rejects.toMatchObject({ type: 'not_sent' });
    expect([sent.times, await phase()]).toEqual([1, 'reserved']);
    const awake = async () => ({ lookup: 'absent' });
    expect(await attempt(undefined, { lookUp: awake, timeScale: 0.001 })).toMatchObject({ kind: 'accepted' });
  });

  it('returns unknown for another request of its own flow if one may have been sent, and other-request for any other', async () => {
    const { attempt, flowId, key, sent } = claimed();
    const other = async (more: object) => ({
      claim: { ...key, flowId, fingerprint: 'g', pin: await pinOf(depsOver(store)), ...more },
    });
    await expect(attempt(failing(new NotSentError('sendCrypto', 'refused')))).rejects.toThrow();
    expect(await attempt(undefined, await other({}))).toMatchObject({ kind: 'other-request' });
    expect(await attempt(failing(new UnknownOutcomeError('sendCrypto', 'timeout')))).toMatchObject({ kind: 'unknown' });
    expect(await attempt(undefined, await other({}))).toEqual({
      kind: 'unknown',
      repeat: 'unknown',
      reason: expect.any(String),
    });
    expect(await attempt(undefined, await other({ flowId: 'crypto-send/x' }))).toMatchObject({ kind: 'other-request' });
    expect(sent.times).toBe(2);
  });

  it("counts each attempt by its outcome or by its failure's type, and a bug of ours as error", async () => {
    const counted: unknown[] = [];
    const count = (name: string, labels: unknown) => {
      if (name === 'towline_money_attempts_total') counted.push(labels);
    };
    const { attempt } = claimed({ metrics: { count } });
    const request = () => {
      throw new TypeError('x is undefined');
    };
    await expect(attempt(undefined, { request })).rejects.toThrow(TypeError);
    await expect(attempt(failing(new NotSentError('sendCrypto', 'refused')))).rejects.toThrow();
    await attempt();
    const operation = 'sendCrypto';
    expect(counted).toEqual(['error', 'not_sent', 'accepted'].map((outcome) => ({ operation, outcome })));
  });

  it('fails as fenced, without a POST, if another attempt took over the claim', async () => {
    const other = { owner: 'other', flowId: 'crypto-send/x', fingerprint: 'f' };
    const { sent, attempt } = claimed(
      claimsThat((claims) => ({
        // Like an ordered second send, which is looked up before it is marked.
        reserve: (key, first) => claims.reserve(key, first),
        async markSending(key, owner) {
          await claims.reserve(key, other);
          return claims.markSending(key, owner);
        },
      })),
    );
    await expect(attempt()).rejects.toMatchObject({ type: 'fenced' });
    expect(sent.times).toBe(0);
  });

  it('does not hand back a claim that another attempt sends, when it repeats a release that was written although it failed', async () => {
    const later: { attempt?: () => Promise<unknown> } = {};
    const { sent, attempt, phase } = claimed(
      claimsThat((claims) => {
        let releases = 0;
        return {
          async release(key, owner) {
            releases += 1;
            const released = await claims.release(key, owner);
            if (releases > 1) return released;
            // Its answer is lost, and before it is tried again another attempt has sent.
            await later.attempt?.();
            throw new StoreUnavailableError('SQLITE_IOERR');
          },
        };
      }),
    );
    later.attempt = () => attempt(failing(new TypeError('cut off')));
    await expect(attempt(failing(new NotSentError('sendCrypto', 'refused')))).rejects.toThrow();
    expect(await phase()).toBe('sending');
    expect(await attempt()).toMatchObject({ kind: 'unknown' });
    expect(sent.times).toBe(2);
  });

  it('sends nothing while the store is unavailable, and returns its answer if the store fails after it', async () => {
    const away = () => Promise.reject(new StoreUnavailableError('SQLITE_IOERR'));
    const before = claimed(claimsThat(() => ({ reserve: away })));
    await expect(before.attempt()).rejects.toMatchObject({ type: 'store_unavailable' });
    expect(before.sent.times).toBe(0);
    const after = claimed(claimsThat(() => ({ recordAnswer: away })));
    expect(await after.attempt()).toEqual({ kind: 'accepted', answer: ANSWER, recorded: false });
  });
});
