import { describe, expect, it } from '@jest/globals';
import { activitiesOn, createActivities, ofQueue } from '../../activities/index.js';
import { pinOf } from '../../activities/claims.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { parkedMatterId } from '../../src/protocol/matters.js';
import { QUEUES } from '../../src/protocol/task-queues.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

describe('the activities of a flow with the store alone:', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const newFlow = () => {
    const reference = newReference('upkeep');
    const flowId = `crypto-send/${reference}`;
    let hash = 0;
    /** An event of this flow in its inbox. */
    const receive = async (status: string, more: Parameters<typeof anEvent>[0] = {}) => {
      const body = { referenceId: reference, status };
      const contentHash = `${flowId}-${(hash += 1)}`;
      return (await store.inbox.receive(anEvent({ flowId, reference, status, body, contentHash, ...more }))).id;
    };
    return { reference, flowId, receive };
  };
  /** @param changed what a read of the inbox returns in the place of these rows */
  const read = (flowId: string, changed: (row: InboxRow) => InboxRow = (row) => row, more: object = {}) => {
    const list: Store['inbox']['list'] = async (query) => (await store.inbox.list(query)).map(changed);
    const deps = depsOver({ ...store, inbox: { ...store.inbox, list } });
    return asActivity(() => createActivities(deps).readInbox({ flowId, ...more }));
  };
  const unread =
    (state: InboxRow['state'], more: Partial<InboxRow> = {}) =>
    (row: InboxRow): InboxRow => ({
      ...row,
      state,
      body: undefined,
      unreadable: 'no key',
      ...more,
    });

  it('readInbox returns trusted events, oldest first, and untrusted ones after them', async () => {
    const { flowId, receive } = newFlow();
    const first = await receive('PENDING');
    const forged = await receive('FAILED', { proof: null });
    const second = await receive('SUCCESSFUL');
    expect(await read(flowId)).toMatchObject([
      { id: first, status: 'PENDING', trusted: true },
      { id: second, status: 'SUCCESSFUL', trusted: true },
      { id: forged, status: 'FAILED', trusted: false, proof: null },
    ]);
  });

  it('readInbox returns an event whose body names another flow with that reference, and a purged one by what is known of it', async () => {
    const { flowId, receive } = newFlow();
    await receive('SUCCESSFUL', { body: { referenceId: 'of-another', status: 'SUCCESSFUL' } });
    expect(await read(flowId)).toMatchObject([{ trusted: true, facts: { reference: 'of-another' } }]);
    const other = newFlow();
    const id = await other.receive('SUCCESSFUL');
    expect(await read(other.flowId, ({ body: _body, ...row }) => row as InboxRow)).toMatchObject([
      { id: `${id}.unopened`, status: 'SUCCESSFUL', trusted: true },
    ]);
    expect(await read('of-no-kind')).toEqual([]);
  });

  it('readInbox fails as unreadable_event, to be tried again, for a waiting event that cannot be decrypted here', async () => {
    const { flowId, receive } = newFlow();
    await receive('SUCCESSFUL');
    await expect(read(flowId, unread('waiting'))).rejects.toMatchObject({
      type: 'unreadable_event',
      nonRetryable: false,
    });
  });

  it('readInbox returns what is known of a quarantined event that cannot be decrypted', async () => {
    const { flowId, receive } = newFlow();
    const id = await receive('SUCCESSFUL');
    expect(await read(flowId, unread('quarantined'))).toMatchObject([
      { id: `${id}.unopened`, status: 'SUCCESSFUL', trusted: true, facts: { body: expect.anything() } },
    ]);
  });

  it("readInbox fails as not_sent while a webhook under the flow's reference is to be matched", async () => {
    const { flowId, reference } = newFlow();
    const { id } = await store.inbox.receive(
      anEvent({ source: 'webhook', flowId: null, reference, toMatch: true, contentHash: flowId }),
    );
    await expect(read(flowId)).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    await store.inbox.match(id, { flowId: null, reference, status: null });
    expect(await read(flowId)).toEqual([]);
  });

  it("readInbox fails as other_deployment for another deployment's flow, and as store_unavailable while the store is away", async () => {
    const { flowId, reference } = newFlow();
    const pin = await pinOf({ store, account: 'default' });
    const claim = { operation: 'sendCrypto', reference, flowId, fingerprint: 'f', pin };
    expect(await read(flowId, undefined, { claim })).toEqual([]);
    const elsewhere = { ...claim, pin: { ...pin, account: 'other' } };
    await expect(read(flowId, undefined, { claim: elsewhere })).rejects.toMatchObject({ type: 'other_deployment' });
    const away = () => {
      throw new StoreUnavailableError('SQLITE_IOERR');
    };
    const forged = newFlow();
    await forged.receive('PENDING');
    await expect(read(forged.flowId, away)).rejects.toMatchObject({ type: 'store_unavailable' });
  });

  it('notifyParked opens one matter, however often it is called, and notifyUnparked resolves it', async () => {
    const { flowId } = newFlow();
    const since = '2026-01-01T00:00:00.000Z';
    const made = createActivities(depsOver(store));
    const order = { flowId, since, reason: 'no_settlement', actions: ['keep-waiting'] };
    const due = async () => {
      const { matters } = await store.matters.due(100);
      return matters.filter(({ id }) => id === parkedMatterId(flowId, since));
    };
    for (let day = 1; day <= 2; day += 1) await asActivity(() => made.notifyParked(order));
    const [matter, ...others] = await due();
    expect(others).toEqual([]);
    expect(matter).toMatchObject({ content: { kind: 'parked', ...order }, resolvedAtMs: undefined });
    await asActivity(() => made.notifyUnparked({ flowId, since }));
    expect((await due())[0]).toMatchObject({ resolvedAtMs: expect.any(Number) });
  });

  it('notifyParked and notifyUnparked fail as store_unavailable while the store is away', async () => {
    const away = () => Promise.reject(new StoreUnavailableError('SQLITE_IOERR'));
    const matters = { ...store.matters, open: away, resolve: away };
    const made = createActivities(depsOver({ ...store, matters }));
    const about = { flowId: 'crypto-send/r', since: '2026-01-01T00:00:00.000Z' };
    const gone = { type: 'store_unavailable', nonRetryable: false };
    await expect(asActivity(() => made.notifyParked({ ...about, reason: 'x' }))).rejects.toMatchObject(gone);
    await expect(asActivity(() => made.notifyUnparked(about))).rejects.toMatchObject(gone);
    expect(await asActivity(() => made.takeTurn())).toBeUndefined();
  });

  it('each runs on one task queue, and checkBridgeTransfer also on that of the workflows', () => {
    const deps = depsOver(store);
    const namesOn = (queue: (typeof QUEUES)[number]) => Object.keys(activitiesOn(deps, queue));
    const [flows, money, lookups, callbacks] = QUEUES.map(namesOn);
    expect(money?.toSorted()).toEqual([
      'handOverRefundInvoice',
      'submitBridgeDeposit',
      'submitRefund',
      'submitStep',
      'takeTurn',
    ]);
    expect(lookups).toEqual(expect.arrayContaining(['settleUnknown', 'whetherPaid', 'checkBridgeTransfer']));
    expect(callbacks).toEqual(['deliverCallback']);
    expect(flows).toEqual(expect.arrayContaining(['readInbox', 'admitOrder', 'checkFlow', 'checkBridgeTransfer']));
    const all = [...Object.keys(createActivities(deps)), 'deliverCallback', 'checkBridgeTransfer'].toSorted();
    expect([flows, money, lookups, callbacks].flatMap((names) => names ?? []).toSorted()).toEqual(all);
    const one = async () => 'run';
    expect(ofQueue({ takeTurn: one, readInbox: one }, 'money')).toEqual({ takeTurn: one });
  });
});
