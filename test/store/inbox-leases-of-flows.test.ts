import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InboxStore } from '../../src/store/inbox.js';
import { statesOf } from './states-of.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flow = (n: number | string) => `bridge-transfer/r${n}`;
const leaseAll = { proven: 10, unproven: 10, perFlow: 200, leaseMs: 30_000 };
const LEASE_MS = 10_000;

describeStores('a flow with events in the inbox', (kind) => {
  let temporary: TemporaryStore;
  let inbox: InboxStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    ({ inbox } = await temporary.open());
  });
  afterEach(() => temporary.remove());

  const receive = async (members: Parameters<typeof anEvent>[0] = {}) => (await inbox.receive(anEvent(members))).id;
  const leasedIds = async (by = inbox, options = leaseAll) =>
    (await by.lease(options)).flatMap(({ rows }) => rows.map(({ id }) => id));
  /** If the flow was still in the list, its next event would wait for the end of that. */
  const isQuiet = async () => {
    const { leased } = await inbox.receive(anEvent(), LEASE_MS);
    return leased !== undefined;
  };

  it('is quiet again once it is leased with nothing waiting, since its events were settled otherwise', async () => {
    const busy = await receive({ flowId: flow(2) });
    const id = await receive();
    await inbox.settle([{ id, state: 'late' }]);
    expect(await leasedIds()).toEqual([busy]);
    expect(await isQuiet()).toBe(true);
    const other = await temporary.open();
    expect(await leasedIds(other.inbox)).toEqual([]);
  });

  it('stays quiet when an event that was settled is received again', async () => {
    const event = anEvent();
    await inbox.receive(event, LEASE_MS);
    await inbox.markDelivered(flow(1), [event.id]);
    await inbox.settle([{ id: event.id, state: 'applied' }]);
    expect(await inbox.receive(event, LEASE_MS)).toEqual({ kind: 'duplicate', id: event.id });
    expect(await isQuiet()).toBe(true);
  });

  it('stays quiet when an event whose body is gone is replayed, and when it starts with nothing to deliver', async () => {
    const id = await receive();
    await leasedIds();
    await inbox.markDelivered(flow(1), [id]);
    await inbox.settle([{ id, state: 'applied' }]);
    temporary.clock.advance(1_000);
    await inbox.purgeBodies(new Date(temporary.clock.now()));
    expect(await inbox.replay(id)).toMatchObject({ state: 'applied' });
    await inbox.releaseWaiting(flow(1));
    expect(await isQuiet()).toBe(true);
  });

  it('stays leased if its holder marks nothing as delivered', async () => {
    const other = await temporary.open();
    const id = await receive();
    expect(await leasedIds()).toEqual([id]);
    await inbox.markDelivered(flow(1), []);
    expect(await leasedIds(other.inbox)).toEqual([]);
    await inbox.markDelivered(flow(1), [id]);
    expect(await inbox.get(id)).toMatchObject({ state: 'delivered' });
  });

  it('is deferred by another gateway only once the lease of its holder has ended', async () => {
    const other = await temporary.open();
    const id = await receive();
    await leasedIds();
    temporary.clock.advance(29_999);
    await other.inbox.defer(flow(1), 0);
    expect(await leasedIds(other.inbox)).toEqual([]);
    temporary.clock.advance(1);
    await other.inbox.defer(flow(1), 60_000);
    expect(await leasedIds(other.inbox)).toEqual([]);
    temporary.clock.advance(60_000);
    expect(await leasedIds(other.inbox)).toEqual([id]);
  });

  it('is leased as proven only while a proven event of it waits', async () => {
    const proven = await receive();
    const forged = await receive({ proof: null });
    expect(await inbox.lease(leaseAll)).toMatchObject([{ hasProven: true }]);
    await inbox.markDelivered(flow(1), [proven]);
    expect(await inbox.lease({ ...leaseAll, unproven: 0 })).toEqual([]);
    expect(await inbox.lease({ ...leaseAll, proven: 0 })).toMatchObject([{ hasProven: false, rows: [{ id: forged }] }]);
    expect((await inbox.waitingOf(flow(1), 9)).map(({ id }) => id)).toEqual([forged]);
  });

  it('is leased as proven when it starts if a proven event waited for it, whatever was forged before', async () => {
    const forged = await receive({ proof: null });
    const proven = await receive();
    const settled = await receive({ flowId: flow(2) });
    const only = await receive({ flowId: flow(2), proof: null });
    await leasedIds();
    await inbox.settle([
      ...[forged, proven, only].map((id) => ({ id, state: 'unmatched' as const })),
      { id: settled, state: 'late' },
    ]);
    for (const n of [1, 2]) await inbox.defer(flow(n), 0);
    for (const n of [1, 2]) await inbox.releaseWaiting(flow(n));
    expect(await leasedIds(inbox, { ...leaseAll, unproven: 0 })).toEqual([forged, proven]);
    expect(await leasedIds(inbox, { ...leaseAll, proven: 0 })).toEqual([only]);
  });

  it('gets, at its start, the unproven event that waited for it behind many without a body, with a proof, or in another state', async () => {
    const many = (members: Parameters<typeof anEvent>[0]) =>
      Promise.all(Array.from({ length: 20 }, () => receive(members)));
    const bare = [...(await many({ proof: null })), await receive()];
    await inbox.settle(bare.map((id) => ({ id, state: 'unmatched' as const })));
    temporary.clock.advance(1_000);
    expect(await inbox.purgeBodies(new Date(temporary.clock.now()))).toBe(21);
    const ended = await many({ proof: null });
    await inbox.settle(ended.map((id) => ({ id, state: 'unverified' as const })));
    const proven = await many({});
    const last = await receive({ proof: null });
    await inbox.settle([...proven, last].map((id) => ({ id, state: 'unmatched' as const })));
    await leasedIds();
    await inbox.releaseWaiting(flow(1));
    expect(new Set(await leasedIds())).toEqual(new Set([...proven, last]));
    expect(await statesOf(inbox)).toMatchObject({ waiting: 21, unmatched: 21, unverified: 20 });
  });

  it('gives up, by markUnmatched, no event that was delivered or settled meanwhile', async () => {
    const ids = [await receive(), await receive(), await receive()];
    await leasedIds();
    await inbox.markDelivered(flow(1), ids.slice(0, 2));
    await inbox.settle([{ id: ids[0] ?? '', state: 'applied' }]);
    await inbox.markUnmatched(flow(1), ids, 'no flow');
    const states = await Promise.all(ids.map(async (id) => (await inbox.get(id))?.state));
    expect(states).toEqual(['applied', 'delivered', 'unmatched']);
  });
});
