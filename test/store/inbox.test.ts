import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InboxRow } from '../../src/protocol/events.js';
import type { InboxStore } from '../../src/store/inbox.js';
import { createMatchingInbox } from '../../src/store/sql-inbox-matching.js';
import type { Row } from '../../src/store/sql-message.js';
import type { Store } from '../../src/store/store.js';
import { createSqlInbox } from '../../src/store/sql-inbox.js';
import { createUnprovenInbox } from '../../src/store/sql-inbox-unproven.js';
import { readCosts } from './read-costs.js';
import { statesOf } from './states-of.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flow = (n: number | string) => `bridge-transfer/r${n}`;
const leaseAll = { proven: 10, unproven: 10, perFlow: 50, leaseMs: 30_000 };

describeStores('the inbox', (kind) => {
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
  const state = async (id: string) => (await inbox.get(id))?.state;

  describe('receive', () => {
    it('keeps all members of an event', async () => {
      const event = anEvent({ body: { name: 'Jane', list: [1, null] } });
      expect(await inbox.receive(event)).toEqual({ kind: 'stored', id: event.id });
      expect(await inbox.get(event.id)).toEqual({
        ...event,
        state: 'waiting',
        detail: null,
        receivedAt: '2026-01-01T00:00:00.000Z',
        deliveredAt: null,
        settledAt: null,
        repeats: 0,
      });
      expect(await inbox.get('other')).toBeUndefined();
    });

    it("counts the same content as a repeat of the first event, whatever that one's state", async () => {
      const id = await receive({ contentHash: 'h' });
      await inbox.markDelivered(flow(1), [id]);
      await inbox.settle([{ id, state: 'applied' }]);
      expect(await inbox.receive(anEvent({ contentHash: 'h' }))).toEqual({ kind: 'duplicate', id });
      expect(await inbox.get(id)).toMatchObject({ state: 'applied', repeats: 1 });
      expect(await leasedIds()).toEqual([]);
    });

    it('distinguishes equal content by source, by flow and by whether it came trusted', async () => {
      const same = { contentHash: 'h' };
      const ids = await Promise.all([
        receive(same),
        receive({ ...same, source: 'settlement' }),
        receive({ ...same, flowId: flow(2) }),
        receive({ ...same, proof: null }),
        receive({ ...same, flowId: null }),
      ]);
      expect(new Set(ids).size).toBe(5);
      expect(await inbox.receive(anEvent({ ...same, proof: 'capability' }))).toMatchObject({ kind: 'duplicate' });
      expect(await inbox.receive(anEvent({ ...same, flowId: null }))).toMatchObject({ kind: 'duplicate' });
    });

    it('makes one row of a thousand copies that come at once through two connections', async () => {
      const stores = [store, await temporary.open()];
      const received = await Promise.all(
        Array.from({ length: 1000 }, (_, n) => (stores[n % 2] ?? store).inbox.receive(anEvent({ contentHash: 'h' }))),
      );
      expect(received.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
      expect(new Set(received.map(({ id }) => id)).size).toBe(1);
      expect((await inbox.list({})).map(({ repeats }) => repeats)).toEqual([999]);
    });

    it('takes an event that comes again for a duplicate, and refuses the id of another event as EVENT_ID_IN_USE', async () => {
      const event = anEvent();
      await inbox.receive(event);
      expect(await inbox.receive(event)).toEqual({ kind: 'duplicate', id: event.id });
      await expect(inbox.receive({ ...event, contentHash: 'other' })).rejects.toMatchObject({
        code: 'EVENT_ID_IN_USE',
      });
    });

    it('keeps an event that names no flow as unmatched, and never leases it', async () => {
      const id = await receive({ flowId: null, reference: null });
      expect(await state(id)).toBe('unmatched');
      expect(await leasedIds()).toEqual([]);
      expect(await inbox.replay(id)).toMatchObject({ state: 'unmatched' });
    });
  });

  describe('settle', () => {
    it('writes a state once, except over unverified', async () => {
      const id = await receive();
      await leasedIds();
      await inbox.markDelivered(flow(1), [id]);
      await inbox.settle([{ id, state: 'unverified', detail: 'no proof' }]);
      temporary.clock.advance(1000);
      await inbox.settle([{ id, state: 'unverified', detail: 'again' }]);
      expect(await inbox.get(id)).toMatchObject({ detail: 'no proof', settledAt: '2026-01-01T00:00:00.000Z' });
      await inbox.settle([{ id, state: 'applied', detail: 'corroborated' }]);
      await inbox.settle([{ id, state: 'late' }]);
      expect(await inbox.get(id)).toMatchObject({ state: 'applied', detail: 'corroborated' });
      await inbox.settle([]);
    });

    it('is not undone by a mark of delivery that comes late', async () => {
      const id = await receive();
      await leasedIds();
      await inbox.settle([{ id, state: 'applied' }]);
      const settled = await inbox.get(id);
      await inbox.markDelivered(flow(1), [id]);
      expect(await inbox.get(id)).toEqual(settled);
      expect(await inbox.unsettledFlows({ limit: 9, ageMs: 0 })).toEqual([]);
    });

    it('takes a waiting event from what is leased', async () => {
      const id = await receive();
      await inbox.settle([{ id, state: 'late' }]);
      await inbox.releaseWaiting(flow(1));
      expect(await leasedIds()).toEqual([]);
    });

    it('refuses waiting and delivered as NOT_A_SETTLEMENT', async () => {
      const id = await receive();
      for (const open of ['waiting', 'delivered'] as const)
        await expect(inbox.settle([{ id, state: open }])).rejects.toMatchObject({ code: 'NOT_A_SETTLEMENT' });
      expect(await state(id)).toBe('waiting');
    });

    it('is due (unsettledFlows) for flows with delivered events of some age, oldest first', async () => {
      const a = await receive({ flowId: flow('a') });
      const b = await receive({ flowId: flow('b') });
      const b2 = await receive({ flowId: flow('b') });
      await inbox.markDelivered(flow('b'), [b]);
      temporary.clock.advance(10);
      await inbox.markDelivered(flow('a'), [a]);
      await inbox.markDelivered(flow('b'), [b2]);
      const ageMs = 5;
      expect(await inbox.unsettledFlows({ limit: 9, ageMs })).toEqual([{ flowId: flow('b'), ids: [b] }]);
      temporary.clock.advance(5);
      expect(await inbox.unsettledFlows({ limit: 1, ageMs })).toEqual([{ flowId: flow('b'), ids: [b, b2] }]);
      await inbox.settle([b, b2].map((id) => ({ id, state: 'applied' as const })));
      expect(await inbox.unsettledFlows({ limit: 9, ageMs })).toEqual([{ flowId: flow('a'), ids: [a] }]);
    });
  });

  describe('replay', () => {
    it('makes a settled event wait again', async () => {
      const id = await receive();
      await inbox.markDelivered(flow(1), [id]);
      await inbox.settle([{ id, state: 'late', detail: 'closed' }]);
      expect(await inbox.replay(id)).toMatchObject({
        state: 'waiting',
        detail: null,
        settledAt: null,
        deliveredAt: null,
      });
      expect(await leasedIds()).toEqual([id]);
      expect(await inbox.replay('other')).toBeUndefined();
    });

    it('sends an event of no flow to the one that is named, and any other event to its own flow', async () => {
      const [id, again] = [await receive({ flowId: null, contentHash: 'h' }), await receive({ contentHash: 'h' })];
      expect(await inbox.replay(id)).toMatchObject({ state: 'unmatched', flowId: null });
      expect(await inbox.replay(id, { flowId: flow(2) })).toMatchObject({ state: 'waiting', flowId: flow(2) });
      expect(await inbox.replay(again, { flowId: flow(2) })).toMatchObject({ flowId: flow(1) });
      expect(await leasedIds()).toEqual([id, again]);
    });

    it("with a person's proof is not undone by a state that comes for the delivery before it", async () => {
      const id = await receive({ proof: null });
      await inbox.markDelivered(flow(1), [id]);
      await inbox.settle([{ id, state: 'unverified' }]);
      expect(await inbox.replay(id, { proof: 'person' })).toMatchObject({ state: 'waiting', proof: 'person' });
      await inbox.settle([{ id, state: 'unverified' }]);
      expect(await leasedIds()).toEqual([id]);
      await inbox.markDelivered(flow(1), [id]);
      await inbox.settle([{ id, state: 'applied' }]);
      expect(await state(id)).toBe('applied');
    });

    it("with a person's proof leaves a genuine event of equal content another event", async () => {
      const forged = await receive({ contentHash: 'h', proof: null });
      await inbox.replay(forged, { proof: 'person' });
      const genuine = await receive({ contentHash: 'h' });
      expect(genuine).not.toBe(forged);
      expect(await receive({ contentHash: 'h', proof: null })).toBe(forged);
    });
  });

  describe('list', () => {
    it('returns the newest first, page by page, by flow and state', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) ids.unshift(await receive({ flowId: flow(n % 2) }));
      const listed = async (query: Parameters<InboxStore['list']>[0]) => (await inbox.list(query)).map(({ id }) => id);
      expect(await listed({})).toEqual(ids);
      const page = await listed({ limit: 2 });
      expect(page).toEqual(ids.slice(0, 2));
      expect(await listed({ limit: 2, after: page[1] ?? '' })).toEqual(ids.slice(2, 4));
      expect(await listed({ flowId: flow(1) })).toEqual([ids[1], ids[3]]);
      expect(await listed({ state: 'applied' })).toEqual([]);
    });

    it('and counts: what is pending, whoever received it, and what this process settled', async () => {
      const ids = [];
      for (let n = 0; n < 4; n += 1) ids.push(await receive({ contentHash: `${n}` }));
      await receive({ flowId: null });
      await inbox.markDelivered(flow(1), ids.slice(0, 3));
      const verdict = { id: ids[0] ?? '', state: 'applied' } as const;
      await inbox.settle([verdict, { id: ids[1] ?? '', state: 'conflicting' }]);
      // Settled already.
      await inbox.settle([verdict]);
      const byState = { waiting: 1, delivered: 1, unverified: 0, conflicting: 1, quarantined: 0 };
      const none = { duplicate: 0, unverified: 0, late: 0, quarantined: 0 };
      expect(await inbox.counts()).toEqual({
        byState,
        settled: { ...none, applied: 1, conflicting: 1, unmatched: 1 },
        dropped: 0,
      });
      const other = await temporary.open();
      expect(await other.inbox.counts()).toMatchObject({ byState, settled: { ...none, applied: 0 } });
    });

    it('returns no bodies if they are not requested', async () => {
      await receive();
      expect((await inbox.list({ bodies: false }))[0]).toMatchObject({ body: undefined, state: 'waiting' });
      expect((await inbox.list({}))[0]?.body).toBeDefined();
    });
  });

  describe('unproven events', () => {
    const dropped = (ofNoFlow: boolean, atMost = 10) =>
      inbox.dropUnproven({ before: new Date(temporary.clock.now()), atMost, ofNoFlow });
    const left = async () => (await inbox.list({})).map(({ id }) => id);

    it('count in unprovenBytes with their bodies, and no other events do', async () => {
      await receive();
      expect(await inbox.unprovenBytes()).toBe(0);
      await receive({ proof: null, body: { text: 'x'.repeat(10_000) } });
      expect(await inbox.unprovenBytes()).toBeGreaterThan(10_000);
      expect(await inbox.unprovenBytes()).toBeLessThan(20_000);
    });

    it('are deleted by dropUnproven, oldest first, unless they wait for a flow, and are counted as dropped', async () => {
      const proven = await receive({ flowId: null });
      const ofNoFlow = [await receive({ flowId: null, proof: null }), await receive({ flowId: null, proof: null })];
      const ofFlow = await receive({ proof: null });
      temporary.clock.advance(1000);
      const young = await receive({ flowId: null, proof: null });
      expect(await dropped(true, 1)).toBe(1);
      expect(await left()).toEqual([young, ofFlow, ofNoFlow[1], proven]);
      expect(await dropped(false)).toBe(1);
      await inbox.settle([{ id: ofFlow, state: 'unverified' }]);
      expect([await dropped(true), await dropped(false), await dropped(false)]).toEqual([0, 1, 0]);
      expect(await left()).toEqual([young, proven]);
      expect(await statesOf(inbox)).toMatchObject({ unmatched: 2, unverified: 0 });
      expect((await inbox.counts()).dropped).toBe(3);
    });
  });

  it('reads no proven events to delete unproven ones of no flow, however many there are', async () => {
    await receive({ flowId: null, proof: null });
    await temporary.execute(`INSERT INTO inbox
      (id, source, reference, came_to, came_trusted, content_hash, proof, state, received_at)
      WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 5000)
      SELECT 'event ' || n, 'webhook', 'other ' || n, '', 1, 'event ' || n, 'signature', 'unmatched', 0 FROM more`);
    if (kind === 'postgres') await temporary.execute('ANALYZE');
    temporary.clock.advance(1_000);
    const before = new Date(temporary.clock.now());
    const costs = await readCosts(kind, temporary.place, /^(received_at<\?|id=\?)$/, async (db) => {
      expect(await createUnprovenInbox(db).dropUnproven({ before, atMost: 50, ofNoFlow: true })).toBe(1);
    });
    expect(costs.filter((cost) => Number(cost) > 1)).toEqual([]);
  });

  it('lists the events of the flows that a name began, reading only so many of all at a time', async () => {
    const of = (actor: string, flowId: string) =>
      ({ actor, role: 'flows', means: 'token', flowId, subject: `start of ${flowId}`, kind: 'start' }) as const;
    await store.audit.append(of('shop', flow('mine')));
    await store.audit.append(of('rival', flow('given')));
    await store.audit.append({ actor: 'root', means: 'token', kind: 'give', flowId: flow('given'), subject: 'shop' });
    const mine = [await receive({ flowId: flow('mine') }), await receive({ flowId: flow('given') })].toReversed();
    const others = (name: string) =>
      temporary.execute(`INSERT INTO inbox
        (id, source, flow_id, came_to, came_trusted, content_hash, proof, state, received_at)
        WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 2500)
        SELECT '${name} ' || n, 'webhook', 'other ' || n, '', 1, '${name} ' || n, 'signature', 'applied', 0 FROM more`);
    await others('newer');
    await temporary.execute(`INSERT INTO inbox (id, source, came_to, came_trusted, content_hash, state, received_at)
      VALUES ('of no flow', 'webhook', '', 0, 'of no flow', 'unmatched', 0)`);
    const newest = await receive({ flowId: flow('mine') });
    const page = async (query: { limit: number; after?: string; state?: 'waiting' }, name = 'shop') => {
      const { rows, next } = await inbox.listOfName(name, query);
      return { ids: rows.map(({ id }) => id), next };
    };
    const first = await page({ limit: 2 });
    expect(first).toEqual({ ids: [newest], next: expect.stringContaining('newer ') });
    const second = await page({ limit: 2, after: first.next ?? '' });
    expect(second).toEqual({ ids: mine, next: mine[1] });
    expect(await page({ limit: 2, after: mine[1] ?? '' })).toEqual({ ids: [], next: null });
    expect(await page({ limit: 2, state: 'waiting' })).toEqual({ ids: [newest, mine[0]], next: mine[0] });
    // A first name may still see what it began: whose a flow is now is asked for each.
    expect((await page({ limit: 5, state: 'waiting' }, 'rival')).ids).toEqual([mine[0]]);
    if (kind === 'postgres') await temporary.execute('ANALYZE');
    const costs = await readCosts(kind, temporary.place, /^$/, async (db) => {
      const read = createSqlInbox({ db, sealed: undefined as never, now: temporary.clock.now });
      await read.listOfName('nobody', { limit: 2 });
    });
    for (const cost of costs) {
      if (kind === 'postgres') expect(cost).toBeLessThanOrEqual(2 * 2_000 + 10);
      else expect(cost).not.toMatch(/SCAN (audit|inbox USING)|TEMP B-TREE/);
    }
  });

  describe('matching', () => {
    it('reads only proven webhooks, or those of one reference, however many others are to be matched', async () => {
      const mine = await receive({ source: 'webhook', flowId: null, reference: 'mine', toMatch: true });
      await temporary.execute(`INSERT INTO inbox
        (id, source, reference, came_to, came_trusted, content_hash, state, received_at)
        WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 5000)
        SELECT 'unproven ' || n, 'webhook', 'other ' || n, '', 0, 'unproven ' || n, 'waiting', 0 FROM more`);
      if (kind === 'postgres') await temporary.execute('ANALYZE');
      const costs = await readCosts(kind, temporary.place, /AND (came_trusted|reference)=\?$/, async (db) => {
        const { now } = temporary.clock;
        const toRow = (row: Row) => ({ id: row['id'] }) as InboxRow;
        const matching = createMatchingInbox({ db, now, toRow, wake: () => ({ sql: '', params: [] }) });
        expect(await matching.toMatch({ proven: true, most: 20 })).toEqual([{ id: mine }]);
        expect(await matching.hasToMatch('mine')).toBe(true);
      });
      expect(costs).toEqual([1, 1]);
    });
  });

  describe('purgeBodies', () => {
    it('clears bodies of settled events of before a moment, which are still known as duplicates', async () => {
      const settled = await receive({ contentHash: 'h' });
      const waiting = await receive();
      await inbox.markDelivered(flow(1), [settled]);
      await inbox.settle([{ id: settled, state: 'applied' }]);
      temporary.clock.advance(1000);
      const young = await receive({ flowId: null });
      const before = new Date(temporary.clock.now());
      expect(await inbox.purgeBodies(before)).toBe(1);
      expect(await inbox.purgeBodies(before)).toBe(0);
      expect((await inbox.get(settled))?.body).toBeUndefined();
      expect((await inbox.get(waiting))?.body).toBeDefined();
      expect((await inbox.get(young))?.body).toBeDefined();
      expect(await inbox.receive(anEvent({ contentHash: 'h' }))).toEqual({ kind: 'duplicate', id: settled });
      expect(await inbox.replay(settled)).toMatchObject({ state: 'applied' });
    });
  });
});
