import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InboxStore } from '../../src/store/inbox.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import type { SqlConnection } from '../../src/store/sql-connection.js';
import { createSqlInbox } from '../../src/store/sql-inbox.js';
import { StoreRequestError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { createSealedJson, type SealedJson } from '../../src/store/store-key.js';
import { describeStores } from './store-kinds.js';
import { anEvent, keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'bridge-transfer/r1';
type Members = Parameters<typeof anEvent>[0];

describeStores('the receipt of an event', (kind) => {
  let temporary: TemporaryStore;
  let inbox: InboxStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    ({ inbox } = await temporary.open());
  });
  afterEach(() => temporary.remove());

  const receive = (members: Members = {}) => inbox.receive(anEvent(members));

  it('keeps an event without a body', async () => {
    const { id } = await receive({ body: undefined });
    expect(await inbox.get(id)).toMatchObject({ body: undefined, state: 'waiting' });
  });

  it.each(['signature', null] as const)(
    'is a duplicate by a hash of an earlier key, of its source, flow and trust alone (proof: %s)',
    async (proof) => {
      const first = await receive({ proof, contentHash: 'old' });
      const again = { proof, contentHash: 'new', earlierHashes: ['older', 'old'] };
      expect(await receive(again)).toEqual({ kind: 'duplicate', id: first.id });
      expect(await inbox.get(first.id)).toMatchObject({ repeats: 1 });
      const others: Members[] = [
        { proof: proof === null ? 'signature' : null },
        { source: 'settlement' },
        { flowId: 'bridge-transfer/r2' },
        { earlierHashes: ['older'] },
      ];
      for (const other of others) expect(await receive({ ...again, ...other })).toMatchObject({ kind: 'stored' });
      expect(await receive(again)).toEqual({ kind: 'duplicate', id: first.id });
    },
  );

  it('is a duplicate for a webhook whichever flow it is found to be of, and for another source only for its own flow', async () => {
    const webhook = { source: 'webhook', contentHash: 'w' } as const;
    const first = await receive({ ...webhook, flowId: null, toMatch: true });
    expect(await receive(webhook)).toEqual({ kind: 'duplicate', id: first.id });
    const callback = { source: 'callback', contentHash: 'c' } as const;
    await receive({ ...callback, flowId: null });
    expect(await receive(callback)).toMatchObject({ kind: 'stored' });
    // As rows of every earlier version have it: they must be known, too.
    const rows = await temporary.execute(`SELECT came_to FROM inbox ORDER BY seq`);
    expect(rows.map((row) => row['came_to'])).toEqual(['', '', flowId]);
  });

  it('stores a copy of a quarantined event as a new one, and no copy of a conflicting one', async () => {
    const { id } = await receive({ contentHash: 'q' });
    await inbox.settle([{ id, state: 'quarantined' }]);
    const copy = await receive({ contentHash: 'q' });
    expect(copy).toMatchObject({ kind: 'stored' });
    await inbox.settle([{ id: copy.id, state: 'conflicting' }]);
    expect(await receive({ contentHash: 'q' })).toEqual({ kind: 'duplicate', id: copy.id });
  });

  it('is found by list with several conditions at once, and by whether it is trusted', async () => {
    const [a, b] = [await receive(), await receive({ proof: null })];
    const other = await receive({ flowId: 'bridge-transfer/r2' });
    await inbox.settle([{ id: a.id, state: 'late' }]);
    const listed = async (query: Parameters<InboxStore['list']>[0]) => (await inbox.list(query)).map(({ id }) => id);
    expect(await listed({ trusted: true })).toEqual([other.id, a.id]);
    expect(await listed({ trusted: false })).toEqual([b.id]);
    expect(await listed({ flowId, state: 'waiting' })).toEqual([b.id]);
    expect(await listed({ flowId, trusted: true, state: 'late' })).toEqual([a.id]);
    expect(await listed({ flowId, after: b.id, trusted: false })).toEqual([]);
  });

  it('leaves a body that purgeBodies clears, of however many events', async () => {
    const body = kind === 'postgres' ? `'\\x00'::bytea` : `X'00'`;
    await temporary.execute(`INSERT INTO inbox
      (id, source, came_to, came_trusted, content_hash, body, state, received_at)
      WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 600)
      SELECT 'event ' || n, 'callback', '', 1, 'event ' || n, ${body}, 'late', 0 FROM more`);
    const before = new Date(temporary.clock.now());
    expect(await inbox.purgeBodies(before)).toBe(600);
    expect(await inbox.purgeBodies(before)).toBe(0);
  });
});

describe('the inbox of a store', () => {
  let temporary: TemporaryStore;
  let db: SqlConnection;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    await temporary.open();
    db = await openConnection({ path: temporary.place });
  });
  afterEach(async () => {
    await db.close();
    await temporary.remove();
  });
  const sealed = createSealedJson(keyring);
  const inboxOn = (connection: SqlConnection, seals: SealedJson = sealed) =>
    createSqlInbox({ db: connection, sealed: seals, now: temporary.clock.now });

  it.each([
    ['is unavailable', new StoreUnavailableError('SQLITE_FULL')],
    ['refuses the statement', new StoreRequestError('SQLITE_ERROR')],
  ])('fails with the error of the connection, if that %s while a repetition is counted', async (_, error) => {
    await inboxOn(db).receive(anEvent({ contentHash: 'h' }));
    let writes = 0;
    const write: SqlConnection['write'] = (steps, turn) => {
      writes += 1;
      return writes === 2 ? Promise.reject(error) : db.write(steps, turn);
    };
    await expect(inboxOn({ ...db, write }).receive(anEvent({ contentHash: 'h' }))).rejects.toBe(error);
  });

  it('decrypts a long list in turns of 50, so that other requests go on', async () => {
    const inbox = inboxOn(db);
    await Promise.all(Array.from({ length: 120 }, () => inbox.receive(anEvent())));
    let opened = 0;
    const openedAtTurns: number[] = [];
    const counting: SealedJson = {
      ...sealed,
      open: (...given) => {
        opened += 1;
        if (opened % 50 === 1) setImmediate(() => openedAtTurns.push(opened));
        return sealed.open(...given);
      },
    };
    expect(await inboxOn(db, counting).list({ limit: 200 })).toHaveLength(120);
    expect(openedAtTurns).toEqual([50, 100]);
  });
});
