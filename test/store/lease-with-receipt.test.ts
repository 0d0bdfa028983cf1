import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InboxStore } from '../../src/store/inbox.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flow = (n: number | string) => `bridge-transfer/r${n}`;
const leaseAll = { proven: 10, unproven: 10, perFlow: 50, leaseMs: 30_000 };

describeStores('a lease that receive returns', (kind) => {
  let temporary: TemporaryStore;
  let inbox: InboxStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    ({ inbox } = await temporary.open());
  });
  afterEach(() => temporary.remove());

  const receive = async (members: Parameters<typeof anEvent>[0] = {}) => (await inbox.receive(anEvent(members))).id;
  const leasedIds = async (by = inbox) => (await by.lease(leaseAll)).flatMap(({ rows }) => rows.map(({ id }) => id));
  const LEASE_MS = 10_000;
  const receiveLeased = async (members: Parameters<typeof anEvent>[0] = {}, by = inbox) =>
    by.receive(anEvent(members), LEASE_MS);

  it('is there for the first event of a quiet flow, with its row', async () => {
    const { id, leased } = await receiveLeased({ body: { name: 'Jane', list: [1, null] } });
    expect(leased).toEqual({ flowId: flow(1), rows: [await inbox.get(id)], deferrals: 0, hasProven: true });
    expect(leased?.rows).toHaveLength(1);
    expect(await leasedIds()).toEqual([]);
  });

  it('is not there for an event of no flow, a repeat, or a flow with a waiting event', async () => {
    expect((await receiveLeased({ flowId: null })).leased).toBeUndefined();
    const first = await receive({ contentHash: 'h' });
    expect((await receiveLeased({ contentHash: 'h' })).leased).toBeUndefined();
    const second = await receiveLeased();
    expect(second.leased).toBeUndefined();
    expect(await leasedIds()).toEqual([first, second.id]);
  });

  it('is there for one of ten events of a flow that come at once, whose holder reads the rows of all', async () => {
    const other = await temporary.open();
    const receipts = await Promise.all(
      Array.from({ length: 10 }, (_, n) => receiveLeased({}, n % 2 ? other.inbox : inbox)),
    );
    expect(receipts.filter(({ leased }) => leased !== undefined)).toHaveLength(1);
    const rows = await inbox.waitingOf(flow(1), 50);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(receipts.map(({ id }) => id)));
    expect((await inbox.waitingOf(flow(1), 3)).map(({ id }) => id)).toEqual(rows.slice(0, 3).map(({ id }) => id));
    expect(await leasedIds(other.inbox)).toEqual([]);
  });

  it('ends with markDelivered, and at its time', async () => {
    const other = await temporary.open();
    const { id } = await receiveLeased();
    temporary.clock.advance(LEASE_MS);
    expect(await leasedIds(other.inbox)).toEqual([id]);
    await other.inbox.markDelivered('bridge-transfer/r1', [id]);
    expect((await receiveLeased()).leased?.rows).toHaveLength(1);
  });
});
