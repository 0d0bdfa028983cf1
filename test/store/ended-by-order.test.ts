import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClaimActivities, pinOf } from '../../activities/claims.js';
import { voidAll } from '../../activities/void-all.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { createRefundActivities } from '../../activities/refund.js';
import type { ClaimRef, RefundOrder } from '../../activities/types.js';
import { NotSentError } from '../../src/service-client/index.js';
import type { ReceivedEvent } from '../../src/protocol/events.js';
import type { Store } from '../../src/store/store.js';
import { systemClock } from '../../src/clock.js';
import { asActivity, depsOver, SCHEDULED_AT_MS } from './deciding-activities.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const order = { actor: 'ada', note: 'refunded by hand' };
const closing = (claim: ClaimRef) =>
  ({
    flowId: claim.flowId,
    claims: [claim],
    action: 'mark-refunded',
    order,
    against: ['COMPLETED'],
    reviewedEventIds: ['judged'],
    wasReset: false,
  }) as const;

describe('a refund whose flow an order has ended', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let deps: ActivityDeps;
  let refund: RefundOrder;
  let claim: ClaimRef;
  let posts: number;
  /** One attempt to send. */
  let post: () => Promise<unknown>;
  const away = () => Promise.reject(new NotSentError('sendCrypto', 'refused'));

  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    posts = 0;
    post = async () => ({ n: (posts += 1) });
    const clock = { ...systemClock, nowMs: () => SCHEDULED_AT_MS };
    deps = depsOver(store, { service: { sendCrypto: () => post() }, clock });
    const flowId = 'bridge-transfer/r1';
    const pin = await pinOf(deps);
    const terms = { receiverAddress: '0xa', chain: 'CELO', token: 'USDC', cryptoAmount: '7.5' };
    refund = { flowId, by: 'input', reviewedEventIds: [], pin, reference: 'r1.refund', ...terms };
    claim = { operation: 'sendCrypto', reference: 'r1.refund', flowId, fingerprint: '', pin };
  });
  afterEach(() => temporary.remove());

  const submitted = async () =>
    (await asActivity(() => createRefundActivities(deps).submitRefund(refund))).outcome.kind;
  const receive = (id: string, event: Partial<ReceivedEvent>) =>
    store.inbox.receive({
      id,
      source: 'callback',
      flowId: claim.flowId,
      reference: 'r1',
      status: null,
      proof: 'capability',
      contentHash: id,
      body: {},
      ...event,
    });
  const phase = async () =>
    (await store.claims.get({ account: 'default', operation: 'sendCrypto', reference: 'r1.refund' }))?.phase;

  it('is not sent by an attempt that reserved its claim before the order was recorded', async () => {
    const { pin, ...rest } = claim;
    const key = { account: pin.account, operation: rest.operation, reference: rest.reference };
    await store.claims.reserve(key, { owner: 'early', flowId: claim.flowId, fingerprint: 'f' });
    await store.claims.recordDecision(key, 'mark-failed', order);
    expect(await store.claims.markSending(key, 'early')).not.toBe('sending');
    expect((await store.claims.get(key))?.phase).toBe('reserved');
  });

  it('is not sent by an attempt that comes after the order, if none was made before or none was sent', async () => {
    const activities = createClaimActivities(deps);
    post = away;
    await expect(submitted()).rejects.toMatchObject({ type: 'not_sent' });
    expect(await phase()).toBe('reserved');
    expect(await activities.closeByOrder(closing(claim))).toEqual([]);
    post = async () => ({ n: (posts += 1) });
    expect(await submitted()).toBe('void');
    expect(posts).toBe(0);

    const untouched = { ...claim, reference: 'r2.refund' };
    expect(await activities.closeByOrder(closing(untouched))).toEqual([]);
    refund = { ...refund, reference: 'r2.refund' };
    expect(['void', 'other-request']).toContain(await submitted());
    expect(posts).toBe(0);
  });

  it('is not sent again after an attempt that was under way at the order, and failed as not_sent', async () => {
    post = async () => {
      expect(await createClaimActivities(deps).closeByOrder(closing(claim))).toEqual([]);
      return away();
    };
    await expect(submitted()).rejects.toMatchObject({ type: 'not_sent' });
    expect(await phase()).toBe('sending');
    post = async () => ({ n: (posts += 1) });
    expect(await submitted()).toBe('unknown');
    expect(posts).toBe(0);
  });

  it('is not sent by another send that was ordered before', async () => {
    const activities = createClaimActivities(deps);
    post = async () => Promise.reject(new Error('reset'));
    expect(await submitted()).toBe('unknown');
    expect(await activities.orderSendAgain({ ...claim, order })).toBe(true);
    expect(await activities.closeByOrder(closing(claim))).toEqual([]);
    post = async () => ({ n: (posts += 1) });
    expect(await submitted()).toBe('unknown');
    expect(await activities.holdBack({ ...claim, order })).toBe(true);
    expect(posts).toBe(0);
  });

  it('is not sent again, by an order or a setting, when its flow is reset after the order', async () => {
    const activities = createClaimActivities(deps);
    post = async () => Promise.reject(new Error('reset'));
    expect(await submitted()).toBe('unknown');
    expect(await activities.closeByOrder({ ...closing(claim), claims: [] })).toEqual([]);
    expect(await activities.orderSendAgain({ ...claim, order })).toBe(false);
    post = async () => ({ n: (posts += 1) });
    expect(await submitted()).toBe('unknown');
    expect(posts).toBe(0);
  });

  it('is left as it is, in all its claims, if an event that its flow has not judged contradicts the order', async () => {
    const activities = createClaimActivities(deps);
    post = async () => Promise.reject(new Error('reset'));
    expect(await submitted()).toBe('unknown');
    const untouched = { ...claim, operation: 'createBridgeDeposit', reference: 'r1' };
    const word = { ...closing(claim), claims: [untouched, claim] };
    const keys = word.claims.map(({ operation, reference }) => ({ account: 'default', operation, reference }));
    const left = () =>
      Promise.all(keys.map(async (key) => [await store.claims.get(key), await store.claims.orders(key)]));
    const before = await left();

    await receive('e1', { status: 'completed' });
    expect(await activities.closeByOrder(word)).toEqual(['contradicted']);
    await receive('w1', { source: 'webhook', flowId: null, toMatch: true });
    const asJudged = { ...word, reviewedEventIds: ['e1'] };
    expect(await activities.closeByOrder(asJudged)).toEqual(['unmatched']);
    expect(await left()).toEqual(before);

    await store.inbox.match('w1', { flowId: claim.flowId, reference: 'r1', status: 'FAILED' });
    expect(await activities.closeByOrder(asJudged)).toEqual([]);
    // What comes later does not undo it: the attempt's answer may have been lost.
    await receive('e2', { status: 'COMPLETED' });
    expect(await activities.closeByOrder(asJudged)).toEqual([]);
    expect((await left()).map(([, orders]) => orders)).toEqual([
      [expect.objectContaining(order)],
      [expect.objectContaining(order)],
    ]);
    expect(await activities.orderSendAgain({ ...claim, order })).toBe(false);
  });

  it('is closed although its answer cannot be decrypted, and counts as maybe executed', async () => {
    const activities = createClaimActivities(deps);
    expect(await submitted()).toBe('accepted');
    const key = { account: 'default', operation: claim.operation, reference: claim.reference };
    await store.claims.recordDecision(key, 'held-back', order);
    await temporary.execute(`UPDATE claims SET answer = x'00'`);
    await temporary.execute(`UPDATE claim_orders SET note = x'00'`);
    await expect(store.claims.get(key)).rejects.toMatchObject({ name: 'SealBrokenError' });
    const ended = { flowId: claim.flowId, claims: [], done: [], reason: 'cancelled', wasReset: false };
    expect(await voidAll(deps, { ...ended, reviewedEventIds: [] })).toMatchObject({ isDone: false });
    expect(await activities.closeByOrder({ ...closing(claim), claims: [] })).toEqual([]);
    expect((await store.claims.orders(key)).map(({ action }) => action)).toEqual(['held-back', 'mark-refunded']);
  });

  it('is left as it is if a person vouched for an event after its flow had judged it', async () => {
    await receive('e1', { status: 'COMPLETED', proof: null });
    const word = { ...closing(claim), reviewedEventIds: ['e1'] };
    await store.inbox.replay('e1', { proof: 'person' });
    expect(await createClaimActivities(deps).closeByOrder(word)).toEqual(['contradicted']);
    refund = { ...refund, by: 'person', reviewedEventIds: ['e1'] };
    expect(await submitted()).toBe('contradicted');
    expect(await createClaimActivities(deps).closeByOrder({ ...word, reviewedEventIds: ['e1.vouched'] })).toEqual([]);
  });

  it('can be sent again by an order after holdBack at the deadline', async () => {
    const activities = createClaimActivities(deps);
    post = away;
    await expect(submitted()).rejects.toMatchObject({ type: 'not_sent' });
    // Nothing was ever sent: the waiting attempt may still send, and the caller learns that.
    expect(await activities.holdBack({ ...claim, order })).toBe(false);
    expect(await activities.orderSendAgain({ ...claim, order })).toBe(true);
    await expect(submitted()).rejects.toMatchObject({ type: 'not_sent' });
    post = async () => ({ n: (posts += 1) });
    expect(await submitted()).toBe('accepted');
    expect(posts).toBe(1);
  });

  it('stays in sending when an attempt releases its claim after that send was held back', async () => {
    const { claims } = store;
    const key = { account: claim.pin.account, operation: claim.operation, reference: claim.reference };
    await claims.reserve(key, { owner: 'first', flowId: claim.flowId, fingerprint: 'f' });
    await claims.markSending(key, 'first');
    await claims.orderSendAgain(key, 'second', order);
    await claims.reserve(key, { owner: 'third', flowId: claim.flowId, fingerprint: 'f' });
    await claims.markSending(key, 'third');
    await claims.recordDecision(key, 'held-back', order);
    await claims.release(key, 'third');
    expect((await claims.get(key))?.phase).toBe('sending');
    await claims.orderSendAgain(key, 'fourth', order);
    expect((await claims.get(key))?.phase).toBe('reserved');
  });

  it('is neither opened nor closed by an order about a send before the present one', async () => {
    const { claims } = store;
    const activities = createClaimActivities(deps);
    const key = { account: claim.pin.account, operation: claim.operation, reference: claim.reference };
    await claims.reserve(key, { owner: 'first', flowId: claim.flowId, fingerprint: 'f' });
    await claims.markSending(key, 'first');
    const sentUntilMs = Date.parse((await claims.get(key))?.sendingAt ?? '');
    const late = { ...claim, order, sentUntilMs };
    expect(await activities.orderSendAgain(late)).toBe(true);
    temporary.clock.advance(1);
    await claims.reserve(key, { owner: 'second', flowId: claim.flowId, fingerprint: 'f' });
    await claims.markSending(key, 'second');
    expect(await activities.orderSendAgain(late)).toBe(false);
    expect(await activities.closeNotExecuted(late)).toBe('sending');
    expect(await activities.closeNotExecuted({ ...late, sentUntilMs: sentUntilMs + 1 })).toBe('void');
  });
});

describeStores('a refund whose flow an order has ended', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  it('is either closed or sent, when the order and an attempt to send come at once', async () => {
    const store = await temporary.open();
    const other = await temporary.open();
    for (let round = 0; round < 25; round += 1) {
      const flowId = `bridge-transfer/u${round}`;
      const [deposit, refunding] = ['createBridgeDeposit', 'sendCrypto'].map((operation) => ({
        key: { account: 'default', operation, reference: `u${round}` },
        flowId,
        fingerprint: 'f',
      }));
      if (deposit === undefined || refunding === undefined) throw new Error('two claims');
      await store.claims.reserve(refunding.key, { owner: 'a', flowId, fingerprint: 'f' });
      const unless = { flowId, statuses: [], sentUntilMs: temporary.clock.now() - 1 };
      const [{ kind: closed }, marked] = await Promise.all([
        store.claims.closeByOrder([deposit, refunding], 'mark-failed', order, unless),
        other.claims.markSending(refunding.key, 'a'),
      ]);
      expect([
        ['closed', 'fenced'],
        ['under-way', 'sending'],
      ]).toContainEqual([closed, marked]);
      expect(await store.claims.orders(deposit.key)).toHaveLength(closed === 'closed' ? 1 : 0);
      const later = { ...unless, sentUntilMs: temporary.clock.now() };
      if (closed === 'under-way') {
        expect(await store.claims.closeByOrder([deposit, refunding], 'mark-failed', order, later)).toMatchObject({
          kind: 'closed',
        });
      }
    }
  });
});
