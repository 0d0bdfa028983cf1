import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'bridge-transfer/r1';
const key = { account: 'default', operation: 'createBridgeDeposit', reference: 'r1' };
const refund = { ...key, operation: 'sendCrypto', reference: 'r1.refund' };
const sibling = { ...key, operation: 'sendCrypto' };
const later = { ...key, reference: 'r2' };
const attempt = (owner: string) => ({ owner, flowId, fingerprint: 'f' });
const order = { actor: 'ada', note: 'refunded by hand' };
const guard = { flowId, statuses: ['COMPLETED'] };
const unsent = (of: typeof key) => ({ key: of, flowId, fingerprint: 'f' });

const kindOf = async <Kind>(closing: Promise<{ readonly kind: Kind }>): Promise<Kind> => (await closing).kind;

describeStores('the claims of a store', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let claims: ClaimStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    ({ claims } = store);
  });
  afterEach(() => temporary.remove());

  const send = async (of: typeof key, owner: string) => {
    await claims.reserve(of, attempt(owner));
    expect(await claims.markSending(of, owner)).toBe('sending');
  };
  const phase = async (of = key) => (await claims.get(of))?.phase;
  const actions = async (of = key) => (await claims.orders(of)).map(({ action }) => action);

  it.each(['another operation', 'another reference'])(
    'answer and release one claim as before an order about another one, of %s',
    async (which) => {
      const other = which === 'another operation' ? sibling : later;
      await send(key, 'a');
      await send(other, 'a');
      await claims.recordDecision(other, 'mark-failed', order);
      expect(await claims.release(key, 'a')).toMatchObject({ isDone: true });
      expect(await claims.markSending(key, 'a')).toBe('sending');
      expect(await claims.recordAnswer(other, {})).toEqual({ before: 'sending', lastWord: 'mark-failed' });
      expect(await claims.orderSendAgain(key, 'b', order)).toMatchObject({ isDone: true });
      expect(await claims.recordAnswer(key, {})).toEqual({ before: 'reserved', lastWord: null });
    },
  );

  it.each(['another operation', 'another reference'])(
    'release one claim although another one, of %s, is held back',
    async (which) => {
      const other = which === 'another operation' ? sibling : later;
      for (const claim of [key, other]) {
        await send(claim, 'a');
        await claims.orderSendAgain(claim, 'b', order);
        expect(await claims.markSending(claim, 'b')).toBe('sending');
      }
      expect(await claims.recordDecision(other, 'held-back', order)).toMatchObject({ isDone: true });
      expect(await claims.release(key, 'b')).toMatchObject({ isDone: true });
      expect(await claims.release(other, 'b')).toMatchObject({ isDone: false });
    },
  );

  it('return, by recordAnswer, the last of several orders that ended the flow, past those that did not', async () => {
    await send(key, 'a');
    for (const action of ['held-back', 'mark-failed', 'mark-refunded', 'held-back'])
      expect(await claims.recordDecision(key, action, order)).toMatchObject({ isDone: true });
    expect(await claims.recordAnswer(key, {})).toEqual({ before: 'sending', lastWord: 'mark-refunded' });
    expect(await claims.recordDecision(later, 'mark-failed', order)).toMatchObject({ isDone: false });
    expect(await actions(later)).toEqual([]);
  });

  it('stay answered after recordDecision and closeByOrder, though another send was ordered before the answer', async () => {
    await send(key, 'a');
    await claims.orderSendAgain(key, 'b', order);
    await claims.recordAnswer(key, { n: 1 });
    expect(await claims.recordDecision(key, 'held-back', order)).toMatchObject({ isDone: true });
    expect(await claims.get(key)).toMatchObject({ phase: 'answered', answer: { n: 1 } });
    expect(await claims.closeByOrder([unsent(key)], 'mark-completed', order, guard)).toMatchObject({ kind: 'closed' });
    expect(await claims.get(key)).toMatchObject({ phase: 'answered', answer: { n: 1 } });
  });

  it('take no send-again after an order that ended the flow, and record none', async () => {
    await send(key, 'a');
    await claims.recordDecision(key, 'mark-failed', order);
    expect(await claims.orderSendAgain(key, 'b', order)).toMatchObject({ isDone: false });
    expect(await actions()).toEqual(['mark-failed']);
    expect(await claims.get(key)).toMatchObject({ phase: 'sending', owner: 'a' });
  });

  it('take a refusal, final or noted, from the owner alone, and only in sending', async () => {
    const refusal = { httpStatus: 400, message: 'no' };
    const refused = async () => [
      (await claims.recordRejection(key, 'a', refusal)).isDone,
      (await claims.noteRefusal(key, 'a', refusal)).isDone,
    ];
    await claims.reserve(key, attempt('a'));
    expect(await refused()).toEqual([false, false]);
    expect(await claims.get(key)).not.toHaveProperty('rejection');
    await claims.markSending(key, 'a');
    expect(await claims.noteRefusal(key, 'b', refusal)).toMatchObject({ isDone: false });
    expect(await claims.noteRefusal(key, 'a', refusal)).toMatchObject({ isDone: true });
    await claims.recordAnswer(key, { n: 1 });
    expect(await refused()).toEqual([false, false]);
    expect(await claims.get(key)).toMatchObject({ phase: 'answered', answer: { n: 1 } });
  });

  it('give a claim with a fingerprint by an earlier key to an attempt that knows it by that key', async () => {
    await claims.reserve(key, { ...attempt('a'), fingerprint: 'old' });
    const rotated = { ...attempt('b'), fingerprint: 'new old' };
    expect(await claims.reserve(key, rotated)).toEqual({ kind: 'reserved', takenOver: true });
    expect(await claims.get(key)).toMatchObject({ owner: 'b', fingerprint: 'old' });
    expect(await claims.markSending(key, 'a')).toBe('fenced');
    expect(await claims.markSending(key, 'b')).toBe('sending');
  });

  it('fail as StoreUnavailableError NO_CLAIM in a store without its deployment row', async () => {
    await temporary.execute('DELETE FROM deployment');
    await expect(claims.reserve(key, attempt('a'))).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      code: 'NO_CLAIM',
      place: 'database',
    });
  });

  it('are listed for several flows at once', async () => {
    await claims.reserve(key, attempt('a'));
    await claims.reserve(later, { ...attempt('a'), flowId: 'bridge-transfer/r2' });
    const references = async (...flows: string[]) => (await claims.ofFlow(...flows)).map(({ reference }) => reference);
    expect(await references(flowId, 'bridge-transfer/r2')).toEqual(['r1', 'r2']);
    expect(await references('bridge-transfer/r2')).toEqual(['r2']);
  });

  it('lose an old refusal, confirmed or only noted, by purgeAnswers', async () => {
    await send(key, 'a');
    await claims.recordRejection(key, 'a', { httpStatus: 400, message: 'not Ann' });
    await send(later, 'a');
    await claims.noteRefusal(later, 'a', { httpStatus: 400, message: 'not Ann' });
    await claims.closeNotExecuted(later, order);
    temporary.clock.advance(1_000);
    expect(await claims.purgeAnswers(new Date(temporary.clock.now()))).toBe(2);
    expect(await claims.get(key)).toMatchObject({ phase: 'rejected', erased: true });
    expect(await claims.get(later)).toMatchObject({ phase: 'void', reason: order.note });
    for (const claim of [key, later]) expect(await claims.get(claim)).not.toHaveProperty('rejection');
  });

  describe('closed by closeByOrder', () => {
    const close = (members: Partial<typeof order & { action: string }> = {}, of = [key, refund]) => {
      const { action = 'mark-refunded', ...given } = members;
      return kindOf(claims.closeByOrder(of.map(unsent), action, { ...order, ...given }, guard));
    };

    it('stay so when the same order is repeated after an event against it, and not by another person, action or note', async () => {
      await send(key, 'a');
      await claims.recordDecision(key, 'held-back', order);
      expect(await close()).toBe('closed');
      await store.inbox.receive(anEvent({ status: 'COMPLETED' }));
      expect(await close()).toBe('closed');
      for (const other of [{ action: 'mark-failed' }, { actor: 'bob' }, { note: 'another' }])
        expect([other, await close(other)]).toEqual([other, 'contradicted']);
      expect(await close({ action: 'mark-failed', actor: 'bob' })).toBe('contradicted');
      expect(await actions()).toEqual(['held-back', 'mark-refunded']);
      expect(await actions(refund)).toEqual(['mark-refunded']);
      expect([await phase(), await phase(refund)]).toEqual(['sending', 'void']);
    });

    it('do not change if an event contradicts the order, nor does one that is reserved for another send', async () => {
      await send(refund, 'a');
      await claims.orderSendAgain(refund, 'b', order);
      await store.inbox.receive(anEvent({ status: 'COMPLETED' }));
      expect(await close()).toBe('contradicted');
      expect([await phase(), await phase(refund)]).toEqual([undefined, 'reserved']);
      expect([await actions(), await actions(refund)]).toEqual([[], ['send-again']]);
      expect(await claims.markSending(refund, 'b')).toBe('sending');
    });

    it('are under way if one may have been sent since, and void if one was only reserved since or is answered', async () => {
      const until = temporary.clock.now();
      temporary.clock.advance(1);
      const closing = (of: typeof key) =>
        kindOf(claims.closeByOrder([unsent(of)], 'mark-failed', order, { ...guard, sentUntilMs: until }));
      await claims.reserve(key, attempt('a'));
      expect(await closing(key)).toBe('closed');
      expect(await phase()).toBe('void');
      await send(refund, 'a');
      expect(await closing(later)).toBe('under-way');
      expect([await phase(later), await actions(later)]).toEqual([undefined, []]);
      await claims.recordAnswer(refund, {});
      expect(await closing(later)).toBe('closed');
      expect(await phase(later)).toBe('void');
    });

    it('are held up by a webhook to be matched, and by an event against the order, also if there is none', async () => {
      const closeNone = () => close({}, []);
      expect(await closeNone()).toBe('closed');
      const webhook = anEvent({ source: 'webhook', flowId: null, reference: 'r1', toMatch: true });
      await store.inbox.receive(webhook);
      expect(await closeNone()).toBe('unmatched');
      await store.inbox.match(webhook.id, { flowId, reference: 'r1', status: 'COMPLETED' });
      expect(await closeNone()).toBe('contradicted');
    });
  });

  it('are held up by closeByOrder with untaken only by events that the flow has yet to take', async () => {
    const closing = (untaken: boolean) =>
      kindOf(claims.closeByOrder([], 'mark-failed', order, { ...guard, ...(untaken ? { untaken } : {}) }));
    const event = anEvent({ status: 'completed' });
    await store.inbox.receive(event);
    expect(await closing(true)).toBe('contradicted');
    await store.inbox.markDelivered(flowId, [event.id]);
    expect([await closing(true), await closing(false)]).toEqual(['contradicted', 'contradicted']);
    await store.inbox.settle([{ id: event.id, state: 'late' }]);
    expect([await closing(true), await closing(false)]).toEqual(['closed', 'contradicted']);
  });

  it('are held up by closeByOrder without statuses by any trusted event but those that were judged', async () => {
    const closing = (besides: readonly string[] = []) =>
      kindOf(claims.closeByOrder([], 'mark-failed', order, { flowId, besides }));
    const untrusted = anEvent({ status: null, proof: null });
    const trusted = anEvent({ status: null });
    await store.inbox.receive(untrusted);
    expect(await closing()).toBe('closed');
    await store.inbox.receive(trusted);
    expect(await closing()).toBe('contradicted');
    expect(await closing([trusted.id])).toBe('closed');
  });
});
