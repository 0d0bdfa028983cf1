import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import type { InboxStore } from '../../src/store/inbox.js';
import type { Store } from '../../src/store/store.js';
import { statesOf } from './states-of.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flow = (n: number | string) => `bridge-transfer/r${n}`;
const leaseAll = { proven: 10, unproven: 10, perFlow: 50, leaseMs: 30_000 };

describeStores('the leases of the inbox', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let inbox: InboxStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    inbox = store.inbox;
  });
  afterEach(() => temporary.remove());

  const receive = async (members: Parameters<typeof anEvent>[0] = {}) => (await inbox.receive(anEvent(members))).id;
  const leasedIds = async (by = inbox, options = leaseAll) =>
    (await by.lease(options)).flatMap(({ rows }) => rows.map(({ id }) => id));

  it('give the events of a flow in the order in which they were received, a batch at a time', async () => {
    const ids = [];
    for (let n = 0; n < 7; n += 1) ids.push(await receive());
    const options = { ...leaseAll, perFlow: 3 };
    const seen: string[][] = [];
    for (;;) {
      const batch = await leasedIds(inbox, options);
      if (batch.length === 0) break;
      seen.push(batch);
      await inbox.markDelivered(flow(1), batch);
    }
    expect(seen).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  });

  it('are exclusive between two connections, flow by flow, also for events that come meanwhile', async () => {
    const other = await temporary.open();
    for (let n = 0; n < 20; n += 1) await receive({ flowId: flow(n) });
    const options = { ...leaseAll, flows: 5 };
    const batches = await Promise.all(
      Array.from({ length: 8 }, (_, n) => leasedIds(n % 2 ? other.inbox : inbox, options)),
    );
    expect(batches.flat()).toHaveLength(20);
    expect(new Set(batches.flat()).size).toBe(20);

    const late = await receive({ flowId: flow(3) });
    expect(await leasedIds(other.inbox)).toEqual([]);
    temporary.clock.advance(30_000);
    expect(await leasedIds(other.inbox, { ...leaseAll, proven: 20 })).toContain(late);
  });

  it('end at their time without the holder, which cannot defer the flow after another one took over', async () => {
    const other = await temporary.open();
    const id = await receive();
    expect(await leasedIds()).toEqual([id]);
    temporary.clock.advance(30_000);
    expect(await leasedIds(other.inbox)).toEqual([id]);
    await inbox.defer(flow(1), 0);
    expect(await leasedIds()).toEqual([]);
    await other.inbox.defer(flow(1), 0);
    expect(await leasedIds()).toEqual([id]);
  });

  it('come again after the time of a deferral, with the number of deferrals since the last delivery', async () => {
    const id = await receive();
    for (let n = 0; n < 3; n += 1) {
      expect((await inbox.lease(leaseAll)).map(({ deferrals }) => deferrals)).toEqual([n]);
      await inbox.defer(flow(1), 60_000);
      temporary.clock.advance(59_999);
      expect(await leasedIds()).toEqual([]);
      temporary.clock.advance(1);
    }
    await leasedIds();
    await inbox.markDelivered(flow(1), [id]);
    await receive();
    expect((await inbox.lease(leaseAll)).map(({ deferrals }) => deferrals)).toEqual([0]);
  });

  it('wait with new events of a deferred flow until releaseWaiting', async () => {
    const first = await receive();
    await leasedIds();
    await inbox.defer(flow(1), 60_000);
    const second = await receive();
    expect(await leasedIds()).toEqual([]);
    await inbox.releaseWaiting(flow(1));
    expect(await leasedIds()).toEqual([first, second]);
  });

  it.each(['started first', 'given up first'])(
    'lose no event if the flow starts while its events are given up: %s',
    async (order) => {
      const id = await receive({ proof: null });
      const giveUp = () => inbox.markUnmatched(flow(1), [id], 'no such flow');
      const steps = [() => inbox.releaseWaiting(flow(1)), giveUp];
      expect(await leasedIds()).toEqual([id]);
      for (const step of order === 'started first' ? steps : steps.toReversed()) await step();
      await inbox.defer(flow(1), 60_000);
      expect(await inbox.get(id)).toMatchObject({ state: 'waiting', detail: null });
      expect(await leasedIds()).toEqual([id]);
      await giveUp();
      await inbox.defer(flow(1), 0);
      expect(await inbox.get(id)).toMatchObject({ state: 'unmatched', detail: 'no such flow' });
      expect(await leasedIds()).toEqual([]);
    },
  );

  it('give events that were unmatched once their flow starts, and not those that were settled otherwise', async () => {
    const [given, ended, other] = [await receive(), await receive(), await receive({ flowId: flow(2) })];
    await leasedIds();
    await inbox.settle([
      { id: given, state: 'unmatched', detail: 'no flow' },
      { id: ended, state: 'late' },
      { id: other, state: 'unmatched' },
    ]);
    for (const n of [1, 2]) await inbox.defer(flow(n), 0);
    expect(await leasedIds()).toEqual([]);
    await inbox.releaseWaiting(flow(1));
    expect(await inbox.get(given)).toMatchObject({ state: 'waiting', detail: null, settledAt: null });
    expect(await leasedIds()).toEqual([given]);
    expect(await statesOf(inbox)).toMatchObject({ waiting: 1, late: 1, unmatched: 1 });
  });

  it('give at most 20 unproven events that waited for the start of their flow, and all proven ones', async () => {
    const forged = [];
    for (let n = 0; n < 25; n += 1) forged.push(await receive({ proof: null }));
    const honest = await receive();
    await inbox.settle([...forged, honest].map((id) => ({ id, state: 'unmatched' as const })));
    await leasedIds();
    await inbox.defer(flow(1), 0);
    await inbox.releaseWaiting(flow(1));
    expect(await leasedIds()).toEqual([...forged.slice(0, 20), honest]);
    expect(await statesOf(inbox)).toMatchObject({ waiting: 21, unmatched: 5 });
  });

  it('have places for flows with a proven event apart from those of others', async () => {
    for (const n of [1, 2, 3]) await receive({ flowId: flow(n), proof: null });
    temporary.clock.advance(1_000);
    const honest = await receive({ flowId: flow(4) });
    const one = { ...leaseAll, proven: 1, unproven: 1 };
    const leased = await inbox.lease(one);
    expect(leased.filter(({ hasProven }) => hasProven).map(({ flowId }) => flowId)).toEqual([flow(4)]);
    expect(leased.filter(({ hasProven }) => !hasProven)).toHaveLength(1);
    await inbox.markDelivered(flow(4), [honest]);

    // One that had no proof becomes proven while it is leased.
    const flowId = leased.find(({ hasProven }) => !hasProven)?.flowId ?? '';
    const late = await receive({ flowId });
    await inbox.defer(flowId, 0);
    expect(await inbox.lease({ ...one, unproven: 0 })).toMatchObject([{ flowId, hasProven: true }]);
    await inbox.markDelivered(flowId, [late]);
    expect(await inbox.lease({ ...one, unproven: 0 })).toEqual([]);
  });

  it('come at once after a deferral if the flow started while its first delivery failed', async () => {
    const id = await receive();
    await leasedIds();
    await inbox.releaseWaiting(flow(1));
    expect(await leasedIds()).toEqual([]);
    await inbox.defer(flow(1), 60_000);
    expect(await leasedIds()).toEqual([id]);
  });

  it('give an event that cannot be decrypted without its body, and again once there is a key', async () => {
    const id = await receive();
    const newKey = { id: 'new', bytes: new Uint8Array(32).fill(9) };
    const testKey = { id: 'test', bytes: new Uint8Array(32).fill(7) };
    const rotated = await temporary.open({ keyring: createKeyring([newKey, testKey]) });
    const sealedNew = anEvent({ flowId: flow(2) });
    await rotated.inbox.receive(sealedNew);
    const batches = await inbox.lease(leaseAll);
    expect(batches.map(({ rows }) => rows.map(({ unreadable }) => unreadable))).toEqual([
      [undefined],
      [expect.any(String)],
    ]);
    expect(await inbox.get(sealedNew.id)).toMatchObject({
      unreadable: expect.any(String),
      state: 'waiting',
    });
    temporary.clock.advance(30_000);
    expect(await leasedIds(rotated.inbox)).toEqual([id, sealedNew.id]);
  });
});
