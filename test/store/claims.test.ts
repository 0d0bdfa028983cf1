import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ClaimStore } from '../../src/store/claim.js';
import { NEVER_RESERVED } from '../../src/protocol/fingerprint.js';
import type { Store } from '../../src/store/store.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const key = { account: 'default', operation: 'createBridgeDeposit', reference: 'r1' };
const attempt = (owner: string, fingerprint = 'f') => ({ owner, flowId: 'bridge-transfer/r1', fingerprint });
const order = { actor: 'jane', note: 'the provider says it never came' };

describeStores('a claim', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let claims: ClaimStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    claims = store.claims;
  });
  afterEach(() => temporary.remove());

  const send = async (owner: string) => {
    await claims.reserve(key, attempt(owner));
    expect(await claims.markSending(key, owner)).toBe('sending');
  };

  it('is reserved by the first attempt, and taken over by the next one while it is only reserved', async () => {
    expect(await claims.reserve(key, attempt('a'))).toEqual({ kind: 'reserved', takenOver: false });
    expect(await claims.reserve(key, attempt('a'))).toEqual({ kind: 'reserved', takenOver: false });
    expect(await claims.reserve(key, attempt('b'))).toEqual({ kind: 'reserved', takenOver: true });
    expect(await claims.markSending(key, 'a')).toBe('fenced');
    expect(await claims.markSending(key, 'b')).toBe('sending');
    expect(await claims.markSending(key, 'b')).toBe('fenced');
  });

  it('goes to sending in reserve with a guard, unless an event shows it done or another send was ordered', async () => {
    const guard = { flowId: 'bridge-transfer/r1', statuses: ['COMPLETED'] };
    expect(await claims.reserve(key, attempt('a'), guard)).toEqual({ kind: 'may-send', takenOver: false });
    expect(await claims.get(key)).toMatchObject({ phase: 'sending', owner: 'a' });
    expect(await claims.reserve(key, attempt('b'), guard)).toMatchObject({ kind: 'sending' });
    expect(await claims.release(key, 'a')).toMatchObject({ isDone: true });
    expect(await claims.reserve(key, attempt('b', 'other'), guard)).toEqual({ kind: 'other-fingerprint' });
    expect(await claims.reserve(key, attempt('b'), guard)).toEqual({ kind: 'may-send', takenOver: true });
    expect(await claims.orderSendAgain(key, 'ordered', order)).toMatchObject({ isDone: true });
    expect(await claims.reserve(key, attempt('c'), guard)).toMatchObject({ kind: 'reserved', sentBefore: 'unknown' });

    await store.inbox.receive(anEvent({ id: 'e1', flowId: guard.flowId, status: 'COMPLETED', proof: 'signature' }));
    const other = { ...key, reference: 'r2' };
    expect(await claims.reserve(other, attempt('a'), guard)).toEqual({ kind: 'contradicted' });
    expect(await claims.reserve(other, attempt('b'), guard)).toEqual({ kind: 'contradicted' });
    expect(await claims.get(other)).toMatchObject({ phase: 'reserved', owner: 'b' });
  });

  it("is not reserved in another store than its flow's, nor in an older copy of it", async () => {
    const guard = { flowId: 'bridge-transfer/r1', statuses: [] };
    const { id, epoch } = await store.deployment.read();
    for (const pin of [
      { store: 'another', epoch },
      { store: id, epoch: epoch + 1 },
    ]) {
      const refusal = { kind: 'other-deployment', store: id, epoch };
      expect(await claims.reserve(key, { ...attempt('a'), ...pin }, guard)).toEqual(refusal);
      expect(await claims.get(key)).toBeUndefined();
    }
    const own = { ...attempt('a'), store: id, epoch };
    expect(await claims.reserve(key, own, guard)).toEqual({ kind: 'may-send', takenOver: false });
    await store.deployment.raiseEpoch(epoch);
    // It was moved to sending without a send: the time is that of its row.
    expect(await claims.reserve({ ...key, reference: 'r2' }, own, guard)).toEqual({
      kind: 'sending',
      since: '2026-01-01T00:00:00.000Z',
    });
  });

  it('is one of its account, operation and reference', async () => {
    await send('a');
    for (const other of [{ account: 'x' }, { operation: 'sendCrypto' }, { reference: 'r2' }]) {
      expect(await claims.reserve({ ...key, ...other }, attempt('b'))).toEqual({ kind: 'reserved', takenOver: false });
    }
  });

  it('is not reserved with another fingerprint in any phase, and does not change by that', async () => {
    const refused = async () => {
      const before = await claims.get(key);
      expect(await claims.reserve(key, attempt('b', 'other'))).toEqual({ kind: 'other-fingerprint' });
      expect(await claims.get(key)).toEqual(before);
    };
    await claims.reserve(key, attempt('a'));
    await refused();
    await claims.markSending(key, 'a');
    await refused();
    await claims.recordAnswer(key, {});
    await refused();
  });

  it('returns since when it is in sending, and keeps its owner then', async () => {
    await send('a');
    temporary.clock.advance(5000);
    expect(await claims.reserve(key, attempt('b'))).toEqual({ kind: 'sending', since: '2026-01-01T00:00:00.000Z' });
    expect(await claims.markSending(key, 'b')).toBe('fenced');
    // Its owner is the one that it had: a proven not-sent error may still hand it back.
    expect((await claims.get(key))?.owner).toBe('a');
    expect(await claims.release(key, 'b')).toMatchObject({ isDone: false });
    expect(await claims.release(key, 'a')).toMatchObject({ isDone: true });
  });

  it('is released by its owner alone, and only while it sends', async () => {
    await send('a');
    expect(await claims.release(key, 'b')).toMatchObject({ isDone: false });
    expect(await claims.release(key, 'a')).toMatchObject({ isDone: true });
    expect(await claims.release(key, 'a')).toMatchObject({ isDone: false });
    expect(await claims.markSending(key, 'a')).toBe('sending');
  });

  it('keeps the first answer, and recordAnswer returns the phase before', async () => {
    expect(await claims.recordAnswer(key, { n: 0 })).toMatchObject({ before: 'absent' });
    expect(await claims.get(key)).toBeUndefined();
    await send('a');
    expect(await claims.recordAnswer(key, { n: 1, phone: '+256700000001' })).toMatchObject({ before: 'sending' });
    expect(await claims.recordAnswer(key, { n: 2 })).toMatchObject({ before: 'answered' });
    const answer = { n: 1, phone: '+256700000001' };
    expect(await claims.reserve(key, attempt('b'))).toEqual({ kind: 'answered', answer });
    expect(await claims.get(key)).toMatchObject({ phase: 'answered', owner: 'a', answer });
  });

  it('becomes answered by an answer after a refusal, and after it was void', async () => {
    await send('a');
    await claims.recordRejection(key, 'a', { httpStatus: 400, message: 'no' });
    expect(await claims.recordAnswer(key, 1)).toMatchObject({ before: 'rejected' });
    const other = { ...key, reference: 'r2' };
    await claims.voidUnsent(other, attempt(''), 'expired');
    expect(await claims.recordAnswer(other, 1)).toMatchObject({ before: 'void' });
    for (const answered of [key, other]) {
      expect(await claims.get(answered)).toMatchObject({ phase: 'answered', answer: 1 });
      expect(await claims.reserve(answered, attempt('b'))).toEqual({ kind: 'answered', answer: 1 });
    }
  });

  it.each(['answered', 'rejected', 'void'])('that is %s is neither sent again nor closed by order', async (phase) => {
    await send('a');
    if (phase === 'answered') await claims.recordAnswer(key, 1);
    if (phase === 'rejected') await claims.recordRejection(key, 'a', { httpStatus: 400, message: 'no' });
    if (phase === 'void') await claims.closeNotExecuted(key, order);
    const before = { claim: await claims.get(key), orders: await claims.orders(key) };
    expect(before.claim?.phase).toBe(phase);
    expect(await claims.orderSendAgain(key, 'b', order)).toMatchObject({ isDone: false });
    expect(await claims.closeNotExecuted(key, order)).toMatchObject({ isDone: false });
    expect(await claims.voidUnsent(key, attempt('b'), 'x')).toMatchObject({ phase: phase });
    expect({ claim: await claims.get(key), orders: await claims.orders(key) }).toEqual(before);
  });

  it('keeps a refusal of its owner alone, and nothing but three members of it', async () => {
    const rejection = { httpStatus: 400, message: 'bad phone +256700000001', code: 'BAD_PHONE' };
    expect(await claims.recordRejection(key, 'a', rejection)).toMatchObject({ isDone: false });
    await send('a');
    expect(await claims.recordRejection(key, 'b', rejection)).toMatchObject({ isDone: false });
    expect(await claims.recordRejection(key, 'a', Object.assign({ token: 'x' }, rejection))).toMatchObject({
      isDone: true,
    });
    expect(await claims.reserve(key, attempt('b'))).toEqual({ kind: 'rejected', rejection });
  });

  it('becomes void by voidUnsent before any attempt or while it is reserved, and is not sent then', async () => {
    expect(await claims.voidUnsent(key, attempt(''), 'expired')).toMatchObject({ phase: 'void' });
    expect(await claims.reserve(key, attempt('a'))).toEqual({ kind: 'void', reason: 'expired', sent: 'nothing' });

    const other = { ...key, reference: 'r2' };
    await claims.reserve(other, attempt('a'));
    expect(await claims.voidUnsent(other, attempt(''), 'late')).toMatchObject({ phase: 'void' });
    expect(await claims.markSending(other, 'a')).toBe('fenced');
  });

  it('that was closed before any attempt is void for each attempt, and reserved again if another send is ordered', async () => {
    const never = { flowId: 'bridge-transfer/r1', fingerprint: NEVER_RESERVED };
    await claims.voidUnsent(key, never, 'closed');
    expect(await claims.reserve(key, attempt('a'))).toMatchObject({ kind: 'void', reason: 'closed' });
    // After a restore it is unknown whether it was sent.
    await store.deployment.read();
    await store.deployment.raiseEpoch(1);
    const lost = { ...key, reference: 'lost' };
    expect(await claims.voidUnsent(lost, { ...never, epoch: 1 }, 'closed')).toMatchObject({ phase: 'sending' });
    expect(await claims.orderSendAgain(lost, 'b', order)).toMatchObject({ isDone: true });
    expect(await claims.reserve(lost, attempt('c'))).toMatchObject({ kind: 'reserved', sentBefore: 'unknown' });
    expect(await claims.markSending(lost, 'c')).toBe('sending');
  });

  it('of which a restored store knows no send stays one that may have been sent, once a person has closed it', async () => {
    await store.deployment.read();
    await store.deployment.raiseEpoch(1);
    const never = { flowId: 'bridge-transfer/r1', fingerprint: NEVER_RESERVED, epoch: 1 };
    expect(await claims.voidUnsent(key, never, 'closed')).toMatchObject({ phase: 'sending' });
    expect(await claims.closeNotExecuted(key, order)).toMatchObject({ isDone: true });
    expect(await claims.get(key)).toMatchObject({ phase: 'void', sent: 'unknown' });
  });

  it('does not become void by voidUnsent once it is in sending', async () => {
    await send('a');
    expect(await claims.voidUnsent(key, attempt(''), 'x')).toMatchObject({ phase: 'sending' });
    await claims.recordAnswer(key, 1);
    expect(await claims.voidUnsent(key, attempt(''), 'x')).toMatchObject({ phase: 'answered' });
  });

  it('is reserved for another send by orderSendAgain only from sending, and the order is recorded', async () => {
    expect(await claims.orderSendAgain(key, 'b', order)).toMatchObject({ isDone: false });
    await send('a');
    expect(await claims.orderSendAgain(key, 'a', order)).toMatchObject({ isDone: false });
    expect(await claims.orderSendAgain(key, 'b', order)).toMatchObject({ isDone: true });
    expect(await claims.orderSendAgain(key, 'c', order)).toMatchObject({ isDone: false });
    expect(await claims.reserve(key, attempt('b'))).toEqual({
      kind: 'reserved',
      takenOver: false,
      sentBefore: 'unknown',
    });
    expect(await claims.release(key, 'a')).toMatchObject({ isDone: false });
    expect(await claims.markSending(key, 'a')).toBe('fenced');
    expect(await claims.markSending(key, 'b')).toBe('sending');
    expect(await claims.orders(key)).toEqual([{ action: 'send-again', ...order, at: '2026-01-01T00:00:00.000Z' }]);
  });

  it('does not become void by voidUnsent if another send was ordered, since the first one may have been executed', async () => {
    await send('a');
    await claims.orderSendAgain(key, 'b', order);
    expect(await claims.voidUnsent(key, attempt(''), 'cancelled')).toMatchObject({ phase: 'reserved' });
    expect(await claims.reserve(key, attempt('c'))).toEqual({
      kind: 'reserved',
      takenOver: true,
      sentBefore: 'unknown',
    });
    expect(await claims.closeNotExecuted(key, order)).toMatchObject({ isDone: true });
    expect(await claims.markSending(key, 'c')).toBe('fenced');
    expect(await claims.reserve(key, attempt('d'))).toMatchObject({ kind: 'void', reason: order.note });
  });

  it('becomes void by closeNotExecuted from sending, once, and the order is recorded', async () => {
    await send('a');
    expect(await claims.closeNotExecuted(key, order)).toMatchObject({ isDone: true });
    expect(await claims.closeNotExecuted(key, order)).toMatchObject({ isDone: false });
    expect(await claims.reserve(key, attempt('b'))).toMatchObject({ kind: 'void', reason: order.note });
    expect((await claims.orders(key)).map(({ action }) => action)).toEqual(['close-not-executed']);
  });

  it('is not closed by closeNotExecuted if it was sent after the time that the order gives', async () => {
    await send('a');
    const { sendingAt = '' } = (await claims.get(key)) ?? {};
    expect(await claims.closeNotExecuted(key, order, { sentUntilMs: Date.parse(sendingAt) - 1 })).toMatchObject({
      isDone: false,
    });
    expect(await claims.get(key)).toMatchObject({ phase: 'sending' });
    expect(await claims.orders(key)).toEqual([]);
    expect(await claims.closeNotExecuted(key, order, { sentUntilMs: Date.parse(sendingAt) })).toMatchObject({
      isDone: true,
    });
  });

  it.each([
    ['r1', 'r1'],
    ['its refund', 'r1.refund'],
  ])('of %s does not go to sending while a proven webhook under that reference is to be matched', async (_, as) => {
    const claim = { ...key, reference: as };
    const guard = { flowId: 'bridge-transfer/r1', statuses: ['COMPLETED'] };
    const webhook = (reference: string, more = {}) =>
      anEvent({ source: 'webhook', flowId: null, reference, status: 'COMPLETED', toMatch: true, ...more });
    await store.inbox.receive(webhook('r2'));
    await store.inbox.receive(webhook('r1', { proof: null }));
    const row = webhook('r1');
    await store.inbox.receive(row);
    expect(await claims.reserve(claim, attempt('a'), guard)).toEqual({ kind: 'unmatched' });
    expect(await claims.markSending(claim, 'a', guard)).toBe('unmatched');
    expect(await claims.get(claim)).toMatchObject({ phase: 'reserved' });
    await store.inbox.match(row.id, { flowId: null, reference: 'r1', status: 'COMPLETED' });
    expect(await claims.reserve(claim, attempt('b'), guard)).toMatchObject({ kind: 'may-send' });
  });

  it('does not go to sending against a trusted event of its flow', async () => {
    await claims.reserve(key, attempt('a'));
    const guard = { flowId: 'bridge-transfer/r1', statuses: ['COMPLETED', 'REFUNDED'] };
    await store.inbox.receive(anEvent({ status: 'COMPLETED', proof: null }));
    await store.inbox.receive(anEvent({ status: 'FAILED' }));
    await store.inbox.receive(anEvent({ status: 'COMPLETED', flowId: 'bridge-transfer/r2' }));
    expect(await claims.markSending(key, 'b', guard)).toBe('fenced');
    expect(await claims.markSending(key, 'a', guard)).toBe('sending');
    await claims.release(key, 'a');
    await store.inbox.receive(anEvent({ status: 'COMPLETED' }));
    expect(await claims.markSending(key, 'a', guard)).toBe('contradicted');
    expect((await claims.get(key))?.phase).toBe('reserved');
  });

  it.each(['COMPLETED', 'refunded'])(
    'does not go to sending against an untrusted %s with orUntrusted',
    async (status) => {
      await claims.reserve(key, attempt('a'));
      const guard = { flowId: 'bridge-transfer/r1', statuses: ['COMPLETED', 'REFUNDED'], orUntrusted: true };
      await store.inbox.receive(anEvent({ status: 'FAILED', proof: null }));
      await store.inbox.receive(anEvent({ status, proof: null, flowId: 'bridge-transfer/r2' }));
      expect(await claims.markSending(key, 'a', guard)).toBe('sending');
      await claims.release(key, 'a');
      await store.inbox.receive(anEvent({ status, proof: null }));
      expect(await claims.markSending(key, 'a', guard)).toBe('contradicted');
      expect(await claims.markSending(key, 'a', { ...guard, orUntrusted: false })).toBe('sending');
    },
  );

  it('is listed with the others of its flow, oldest first', async () => {
    for (const reference of ['r9', 'r1', 'r1.refund']) await claims.reserve({ ...key, reference }, attempt('a'));
    expect((await claims.ofFlow('bridge-transfer/r1')).map((claim) => claim.reference)).toEqual([
      'r9',
      'r1',
      'r1.refund',
    ]);
  });

  it('goes to sending for one of a hundred attempts at once through two connections', async () => {
    const stores = [store, await temporary.open()];
    const won = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const { claims } = stores[index % 2] ?? store;
        await claims.reserve(key, attempt(`owner-${index}`));
        return claims.markSending(key, `owner-${index}`);
      }),
    );
    expect(won.filter((result) => result === 'sending')).toHaveLength(1);
  });
});
