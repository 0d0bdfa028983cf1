import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InboxStore } from '../../src/store/inbox.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { createPostgresConnection } from '../../src/store/postgres/connection.js';
import type { SqlConnection } from '../../src/store/sql-connection.js';
import { createUnprovenInbox } from '../../src/store/sql-inbox-unproven.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'bridge-transfer/r1';
const leaseAll = { proven: 10, unproven: 10, perFlow: 50, leaseMs: 30_000 };

describeStores('an event of the inbox', (kind) => {
  let temporary: TemporaryStore;
  let inbox: InboxStore;
  let db: SqlConnection;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    ({ inbox } = await temporary.open());
    const { place } = temporary;
    db = await (kind === 'postgres' ? createPostgresConnection({ url: place }) : openConnection({ path: place }));
  });
  afterEach(async () => {
    await db.close();
    await temporary.remove();
  });

  const receive = async (members: Parameters<typeof anEvent>[0] = {}) => (await inbox.receive(anEvent(members))).id;
  const webhook = (members: Parameters<typeof anEvent>[0] = {}) =>
    receive({ source: 'webhook', flowId: null, toMatch: true, ...members });

  it('that names no flow is listed by toMatch, proven or not, page by page, as long as it waits', async () => {
    const proven = [await webhook(), await webhook(), await webhook()];
    const unproven = [await webhook({ proof: null }), await webhook({ proof: null })];
    const done = await webhook();
    await receive();
    await inbox.settle([{ id: done, state: 'quarantined' }]);
    const toMatch = async (isProven: boolean, most: number, after?: string) =>
      (await inbox.toMatch({ proven: isProven, most, after })).map(({ id }) => id);
    expect(await toMatch(true, 9)).toEqual(proven);
    expect(await toMatch(false, 9)).toEqual(unproven);
    expect(await toMatch(true, 1)).toEqual(proven.slice(0, 1));
    expect(await toMatch(true, 9, proven[0])).toEqual(proven.slice(1));
    expect(await toMatch(false, 9, unproven[1])).toEqual([]);
  });

  it('is found by hasToMatch of its reference only if it is proven and names no flow', async () => {
    await webhook({ reference: 'r1', proof: null });
    await receive({ reference: 'r1' });
    expect(await inbox.hasToMatch('r1')).toBe(false);
    await webhook({ reference: 'r1' });
    expect([await inbox.hasToMatch('r1'), await inbox.hasToMatch('r2')]).toEqual([true, false]);
  });

  it('is matched once, takes reference and status from that, and is due for its flow at once', async () => {
    const [id, lost] = [await webhook({ reference: null, status: null }), await webhook()];
    const labels = { flowId, reference: 'r1', status: 'PAID' };
    await inbox.match(id, labels);
    expect(await inbox.get(id)).toMatchObject({ ...labels, state: 'waiting' });
    await inbox.match(id, { flowId: 'bridge-transfer/r2', reference: 'r2', status: 'FAILED' });
    expect(await inbox.get(id)).toMatchObject({ ...labels, state: 'waiting' });
    await inbox.match(lost, { flowId: null, reference: 'r9', status: 'PAID' });
    expect(await inbox.get(lost)).toMatchObject({ flowId: null, reference: 'r9', status: 'PAID', state: 'unmatched' });
    await inbox.match(lost, labels);
    expect(await inbox.get(lost)).toMatchObject({ flowId: null, reference: 'r9', state: 'unmatched' });
    expect((await inbox.lease(leaseAll)).map((leased) => [leased.flowId, leased.rows.map((row) => row.id)])).toEqual([
      [flowId, [id]],
    ]);
  });

  it('that is to be matched stays so if it is replayed', async () => {
    const id = await webhook();
    expect(await inbox.replay(id)).toMatchObject({ state: 'waiting', flowId: null });
    expect((await inbox.toMatch({ proven: true, most: 9 })).map((row) => row.id)).toEqual([id]);
    expect(await inbox.lease(leaseAll)).toEqual([]);
  });

  const before = () => new Date(temporary.clock.now());
  /** What is found to be deleted changes before it is. */
  const dropWhile = (ofNoFlow: boolean, change: () => Promise<unknown>) => {
    const read: SqlConnection['read'] = async (steps) => {
      const found = await db.read(steps);
      await change();
      return found;
    };
    return createUnprovenInbox({ ...db, read }).dropUnproven({ before: before(), atMost: 9, ofNoFlow });
  };

  it('without proof is not deleted by dropUnproven if a person vouches for it meanwhile', async () => {
    const [id, other] = [await receive({ proof: null }), await receive({ proof: null })];
    await inbox.settle([id, other].map((one) => ({ id: one, state: 'unverified' as const })));
    temporary.clock.advance(1);
    const vouch = async () => {
      await inbox.replay(id, { proof: 'person' });
      await inbox.settle([{ id, state: 'applied' }]);
    };
    expect(await dropWhile(false, vouch)).toBe(1);
    expect(await inbox.get(id)).toMatchObject({ state: 'applied' });
    expect(await inbox.get(other)).toBeUndefined();
  });

  it('without proof is not deleted by dropUnproven if its flow starts meanwhile', async () => {
    const [id, other] = [await receive({ proof: null }), await receive({ proof: null, flowId: 'bridge-transfer/r2' })];
    await inbox.settle([id, other].map((one) => ({ id: one, state: 'unmatched' as const })));
    temporary.clock.advance(1);
    expect(await dropWhile(true, () => inbox.releaseWaiting(flowId))).toBe(1);
    expect(await inbox.get(id)).toMatchObject({ state: 'waiting' });
    expect(await inbox.get(other)).toBeUndefined();
  });

  it('without proof is deleted by dropUnproven although older ones wait for their flow', async () => {
    const waiting = await receive({ proof: null });
    temporary.clock.advance(1);
    await receive({ proof: null, flowId: null });
    temporary.clock.advance(1);
    expect(await inbox.dropUnproven({ before: before(), atMost: 1, ofNoFlow: false })).toBe(1);
    expect(await inbox.dropUnproven({ before: before(), atMost: 1, ofNoFlow: true })).toBe(0);
    expect((await inbox.list({})).map(({ id }) => id)).toEqual([waiting]);
  });

  it('without proof counts in untrustedTaken of its flow once it is past waiting, up to a number', async () => {
    const taken = async (most: number) => inbox.untrustedTaken(flowId, most);
    const ids = await Promise.all([1, 2, 3].map(() => receive({ proof: null })));
    await inbox.markDelivered(flowId, [await receive()]);
    const elsewhere = await receive({ proof: null, flowId: 'bridge-transfer/r2' });
    await inbox.markDelivered('bridge-transfer/r2', [elsewhere]);
    expect(await taken(9)).toBe(0);
    await inbox.markDelivered(flowId, ids.slice(0, 2));
    expect([await taken(9), await taken(1)]).toEqual([2, 1]);
  });

  it('without proof is found by hasShownUntrusted, by its status word, while delivered or unverified', async () => {
    const shown = (...words: string[]) => inbox.hasShownUntrusted(flowId, words);
    const id = await receive({ proof: null, status: 'completed' });
    const proven = await receive({ status: 'FAILED' });
    await inbox.markDelivered(flowId, [proven]);
    expect(await shown('COMPLETED', 'FAILED')).toBe(false);
    await inbox.markDelivered(flowId, [id]);
    expect([await shown('REFUNDED', 'COMPLETED'), await shown('REFUNDED'), await shown()]).toEqual([
      true,
      false,
      false,
    ]);
    await inbox.settle([{ id, state: 'unverified' }]);
    expect(await shown('COMPLETED')).toBe(true);
    await inbox.settle([{ id, state: 'conflicting' }]);
    expect(await shown('COMPLETED')).toBe(false);
  });
});
