import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim, type Submission } from '../../activities/submit-under-claim.js';
import { NotSentError, RejectedError, type ServiceAnswer } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { depsOver, sendRequest } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const ANSWER = { id: 'S-1' };
const order = { actor: 'ann', note: 'looked into it' };

describe('submitUnderClaim', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const claimed = (replaced: Partial<ActivityDeps> = {}) => {
    const reference = newReference('again');
    const flowId = `crypto-send/${reference}`;
    const key = { account: 'default', operation: 'sendCrypto', reference };
    const deps = depsOver(store, replaced as object);
    const sent = { times: 0 };
    const attempt = async (more: Partial<Submission<unknown>> = {}, fingerprint = 'f') =>
      submitUnderClaim(deps, {
        claim: { operation: 'sendCrypto', reference, flowId, fingerprint, pin: await pinOf(deps) },
        guard: { flowId, statuses: [] },
        request: () => sendRequest(reference),
        send: async () => {
          sent.times += 1;
          return ANSWER;
        },
        ...more,
      });
    /** The answer to a first send is lost, and a person orders another one. */
    const ordered = async () => {
      await attempt({ send: () => Promise.reject(new TypeError('cut off')) });
      expect(await store.claims.orderSendAgain(key, 'ordered', order)).toMatchObject({ isDone: true });
    };
    return { reference, key, flowId, sent, attempt, ordered, claim: () => store.claims.get(key) };
  };
  const claimsThat = (replaced: (claims: ClaimStore) => Partial<ClaimStore>): Partial<ActivityDeps> => ({
    store: { ...store, claims: { ...store.claims, ...replaced(store.claims) } },
  });
  const webhookToMatch = (reference: string) =>
    store.inbox.receive(anEvent({ source: 'webhook', flowId: null, reference, status: 'SUCCESS', toMatch: true }));

  describe('for a repeat that a person ordered', () => {
    it('sends nothing if the service shows the first send: its record is the answer, and is kept with the claim', async () => {
      const { sent, attempt, ordered, claim } = claimed();
      await ordered();
      const record = { status: 'PENDING', id: 'S-0' };
      const lookUp = async () => ({ lookup: 'shown' as const, answer: record });
      expect(await attempt({ lookUp })).toEqual({ kind: 'accepted', answer: record, byLookup: true, recorded: true });
      expect(sent.times).toBe(0);
      expect(await claim()).toMatchObject({ phase: 'answered', answer: record });
    });

    it('returns recorded: false for the record that the lookup shows while the store cannot write it', async () => {
      const away = () => Promise.reject(new StoreUnavailableError('SQLITE_IOERR'));
      const { sent, attempt, ordered } = claimed(claimsThat(() => ({ recordAnswer: away })));
      await ordered();
      const lookUp = async () => ({ lookup: 'shown' as const, answer: ANSWER });
      expect(await attempt({ lookUp })).toMatchObject({ kind: 'accepted', byLookup: true, recorded: false });
      expect(sent.times).toBe(0);
    });

    it('holds the claim back, in the name of the flow, if the service has something else under the reference', async () => {
      const { key, sent, attempt, ordered, claim } = claimed();
      await ordered();
      const lookUp = async () => ({ lookup: 'other' as const });
      expect(await attempt({ lookUp })).toEqual({ kind: 'duplicate', repeat: 'unknown' });
      expect((await claim())?.phase).toBe('sending');
      expect(await store.claims.orders(key)).toMatchObject([
        { action: 'send-again', actor: 'ann' },
        { action: 'held-back', actor: 'flow', note: expect.any(String) },
      ]);
      expect(await attempt()).toMatchObject({ kind: 'unknown' });
      expect(sent.times).toBe(0);
    });

    it('fails as not_sent while the lookup cannot tell, and sends if the person who ordered it was shown that', async () => {
      const { sent, attempt, ordered, claim } = claimed();
      await ordered();
      const lookUp = async () => ({ lookup: 'cannot-tell' as const });
      for (const more of [{}, { unasked: false }]) {
        await expect(attempt({ lookUp, ...more })).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
      }
      expect((await claim())?.phase).toBe('reserved');
      expect(sent.times).toBe(0);
      expect(await attempt({ lookUp, unasked: true })).toMatchObject({ kind: 'accepted', answer: ANSWER });
      expect(sent.times).toBe(1);
    });

    it.each(['absent', 'proves-nothing', 'no-lookup'] as const)('sends if the lookup says "%s"', async (lookup) => {
      const { sent, attempt, ordered } = claimed();
      await ordered();
      expect(await attempt({ lookUp: async () => ({ lookup }) })).toEqual({
        kind: 'accepted',
        answer: ANSWER,
        recorded: true,
        isRepeat: true,
      });
      expect(sent.times).toBe(1);
    });

    it('sends although the lookup took as long as any answer may: the time to the first byte counts from then', async () => {
      let nowMs = 0;
      const { attempt, ordered } = claimed({ monotonicMs: () => nowMs });
      await ordered();
      const lookUp = async () => {
        nowMs += 35_000;
        return { lookup: 'absent' as const };
      };
      expect(await attempt({ lookUp })).toMatchObject({ kind: 'accepted' });
    });

    it('fails as not_sent, and keeps the order, while a webhook under the reference is to be matched', async () => {
      const { reference, sent, attempt, ordered, claim } = claimed();
      await ordered();
      await webhookToMatch(reference);
      await expect(attempt()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
      expect(sent.times).toBe(0);
      expect((await claim())?.phase).toBe('reserved');
    });
  });

  describe('for a payment that others can make, too', () => {
    it('returns done-elsewhere, with what was found, if the payment was made meanwhile', async () => {
      const { sent, attempt, claim } = claimed();
      const found = { says: 'paid', reading: { status: 'SUCCESSFUL', facts: {} } } as const;
      expect(await attempt({ lookUpFirst: async () => found })).toEqual({ kind: 'done-elsewhere', found });
      expect(sent.times).toBe(0);
      expect((await claim())?.phase).toBe('reserved');
    });

    it('fails as not_sent while the service cannot say whether the payment was made', async () => {
      const { sent, attempt, claim } = claimed();
      const asked = attempt({ lookUpFirst: async () => ({ says: 'cannot-tell', why: 'it is down' }) });
      await expect(asked).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
      await expect(attempt({ lookUpFirst: async () => ({ says: 'cannot-tell' }) })).rejects.toMatchObject({
        type: 'not_sent',
        nonRetryable: false,
      });
      expect(sent.times).toBe(0);
      expect((await claim())?.phase).toBe('reserved');
    });

    it('sends if the payment was not made, although that lookup took long', async () => {
      let nowMs = 0;
      const { sent, attempt } = claimed({ monotonicMs: () => nowMs });
      const lookUpFirst = async () => {
        nowMs += 60_000;
        return { says: 'not-paid' as const };
      };
      expect(await attempt({ lookUpFirst })).toMatchObject({ kind: 'accepted' });
      expect(sent.times).toBe(1);
    });

    it('does not take the record of another payer for its answer before a first send', async () => {
      const { sent, attempt } = claimed();
      const lookUp = async () => ({ lookup: 'shown' as const, answer: { id: 'of another payer' } });
      const made = await attempt({ lookUp, lookUpFirst: async () => ({ says: 'not-paid' }) });
      expect(made).toEqual({ kind: 'accepted', answer: ANSWER, recorded: true });
      expect(sent.times).toBe(1);
    });
  });

  it('fails as not_sent while a webhook under the reference is to be matched', async () => {
    const { reference, sent, attempt } = claimed();
    await webhookToMatch(reference);
    await expect(attempt()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    expect(sent.times).toBe(0);
  });

  it('never marks the claim as sending if the quote has expired by then', async () => {
    let takenBack = 0;
    const { attempt, claim } = claimed(
      claimsThat((claims) => ({
        release: (...which) => {
          takenBack += 1;
          return claims.release(...which);
        },
      })),
    );
    expect(await attempt({ stillValid: () => false })).toEqual({ kind: 'quote-expired' });
    expect((await claim())?.phase).toBe('reserved');
    expect(takenBack).toBe(0);
  });

  it('returns rejected or void to each later attempt under a claim that was refused or closed', async () => {
    const refused = claimed();
    const refusal = { httpStatus: 400, message: 'no', fields: [], isRateExpired: false, isAboutReference: false };
    await refused.attempt({ send: () => Promise.reject(new RejectedError('sendCrypto', refusal)) });
    expect(await refused.attempt()).toEqual({
      kind: 'rejected',
      rejection: { httpStatus: 400, message: 'no' },
      owner: '',
      recorded: true,
    });
    const closed = claimed();
    await store.claims.voidUnsent(closed.key, { flowId: closed.flowId, fingerprint: 'f' }, 'cancelled');
    expect(await closed.attempt()).toMatchObject({ kind: 'void', reason: 'cancelled' });
    expect(closed.sent.times).toBe(0);
  });

  /** An answer that came so, and how it was understood. */
  const answeredWith = (came: ServiceAnswer, ends: () => Promise<unknown>): Partial<Submission<unknown>> => ({
    send: (_request, { onAnswer }) => {
      onAnswer?.(came);
      return ends();
    },
  });

  it.each([
    ['an answer', async () => ANSWER, 'answered'],
    [
      'a refusal',
      () =>
        Promise.reject(
          new RejectedError('sendCrypto', {
            httpStatus: 422,
            message: 'no',
            fields: [],
            isRateExpired: false,
            isAboutReference: false,
          }),
        ),
      'rejected',
    ],
  ])('keeps %s of the service for the caller, byte for byte', async (_, ends, phase) => {
    const { attempt, claim } = claimed();
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const came: ServiceAnswer = { httpStatus: 201, headers, bytes: Buffer.from('{ "id":"S-1" }') };
    await attempt(answeredWith(came, ends));
    const kept = { httpStatus: 201, contentType: 'application/json; charset=utf-8', body: '{ "id":"S-1" }' };
    expect(await claim()).toMatchObject({ phase, kept });
  });

  it('keeps an answer up to 64 KiB of text, as JSON if it names no type, and no larger or binary one', async () => {
    const kept = async (bytes: Uint8Array) => {
      const { attempt, claim } = claimed();
      await attempt(answeredWith({ httpStatus: 201, headers: {}, bytes }, async () => ANSWER));
      return (await claim())?.kept;
    };
    const text = (length: number) => Buffer.from('x'.repeat(length));
    expect(await kept(text(2))).toEqual({ httpStatus: 201, contentType: 'application/json', body: 'xx' });
    expect((await kept(text(65_536)))?.body).toHaveLength(65_536);
    expect(await kept(text(65_537))).toBeUndefined();
    expect(await kept(Uint8Array.of(0xff))).toBeUndefined();
  });

  it('counts outcomes in snake case, and each takeover of a claim that a dead attempt left', async () => {
    const counted: unknown[] = [];
    const { attempt } = claimed({ metrics: { count: (name, labels) => void counted.push([name, labels]) } });
    const operation = 'sendCrypto';
    const ended = (outcome: string) => ['towline_money_attempts_total', { operation, outcome }];
    const takenOver = ['towline_claims_taken_over_total', { operation }];
    await attempt({ stillValid: () => false });
    expect(counted).toEqual([ended('quote_expired')]);
    await expect(attempt({ send: () => Promise.reject(new NotSentError(operation, 'refused')) })).rejects.toThrow();
    expect(counted.slice(1)).toEqual([takenOver, ended('not_sent')]);
    await attempt({}, 'another');
    expect(counted.slice(3)).toEqual([ended('other_request')]);
  });
});
