import { Client } from 'pg';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openPostgresStore, followDatabaseClock } from '../../src/store/postgres/open.js';
import { createPostgresConnection } from '../../src/store/postgres/connection.js';
import { migratePostgres } from '../../src/store/postgres/migrate.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { until } from '../harness/until.js';
import { clusterUrl, makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { startCuttingProxy, type Cut, type CuttingProxy } from './cutting-proxy.js';
import { anEvent, keyring } from './temporary-store.js';

const key = { account: 'a', operation: 'o', reference: 'r1' };
const attempt = (owner: string) => ({ owner, flowId: 'flow', fingerprint: 'f' });
const DAY_MS = 86_400_000;
const CUTS: readonly Cut[] = ['before', 'after'];
/** As the protocol ends it; the beginning of a transaction has the word, too (READ COMMITTED). */
const COMMIT = 'COMMIT\0';
/** All that fake timers fake, but `setTimeout` and `clearTimeout`. */
const OTHER_CLOCKS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;

(clusterUrl === undefined ? describe.skip : describe)('the store on Postgres', () => {
  let database: TemporaryDatabase;
  let proxy: CuttingProxy;
  let stores: Store[];
  beforeEach(async () => {
    database = await makeTemporaryDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = await startCuttingProxy({ host: hostname, port: Number(port) });
    stores = [];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await proxy.close();
    await database.drop();
  });

  const open = async (giveUpAfterMs = 5_000): Promise<Store> => {
    const store = await openPostgresStore({ url: proxy.through(database.url), keyring, giveUpAfterMs });
    stores.push(store);
    return store;
  };

  describe.each(CUTS)('when the connection breaks %s the commit', (cut) => {
    it('moves a claim to sending for its owner, and for no other attempt', async () => {
      const { claims } = await open();
      await claims.reserve(key, attempt('a'));
      const isCut = proxy.cutAt(COMMIT, cut);
      expect(await claims.markSending(key, 'a')).toBe('sending');
      await isCut;
      expect(await claims.get(key)).toMatchObject({ phase: 'sending', owner: 'a' });
      expect(await claims.markSending(key, 'a')).toBe('fenced');
      expect(await claims.reserve(key, attempt('b'))).toMatchObject({ kind: 'sending' });
    });

    it('returns the phase before an answer, as without the break', async () => {
      const { claims } = await open();
      await claims.reserve(key, attempt('a'));
      await claims.markSending(key, 'a');
      const isCut = proxy.cutAt(COMMIT, cut);
      expect(await claims.recordAnswer(key, { n: 1 })).toMatchObject({ before: 'sending' });
      await isCut;
      expect(await claims.get(key)).toMatchObject({ phase: 'answered', answer: { n: 1 } });
    });

    it('records an order once', async () => {
      const { claims } = await open();
      await claims.reserve(key, attempt('a'));
      await claims.markSending(key, 'a');
      const isCut = proxy.cutAt(COMMIT, cut);
      expect(await claims.orderSendAgain(key, 'b', { actor: 'jane', note: 'x' })).toMatchObject({ isDone: true });
      await isCut;
      expect(await claims.orders(key)).toHaveLength(1);
      expect(await claims.get(key)).toMatchObject({ phase: 'reserved', owner: 'b' });
    });

    it('stores an event once', async () => {
      const { inbox } = await open();
      const event = anEvent();
      const isCut = proxy.cutAt(COMMIT, cut);
      expect((await inbox.receive(event)).id).toBe(event.id);
      await isCut;
      expect((await inbox.counts()).byState.waiting).toBe(1);
      expect(
        (await inbox.lease({ proven: 9, unproven: 9, perFlow: 9, leaseMs: 1000 })).flatMap(({ rows }) => rows),
      ).toHaveLength(1);
    });
  });

  it('repeats a statement if the connection breaks before it', async () => {
    const { claims } = await open();
    for (const words of ['BEGIN', 'INSERT INTO claims', 'SELECT * FROM claims']) {
      const isCut = proxy.cutAt(words, 'before');
      const reference = `r-${words}`;
      expect(await claims.reserve({ ...key, reference }, attempt('a'))).toEqual({ kind: 'reserved', takenOver: false });
      if (words !== 'SELECT * FROM claims') await isCut;
      expect((await claims.get({ ...key, reference }))?.phase).toBe('reserved');
      await isCut;
    }
  });

  it('waits for a database that is briefly unavailable, and continues with it', async () => {
    const { claims } = await open();
    proxy.down(true);
    const reserved = claims.reserve(key, attempt('a'));
    proxy.down(false);
    expect(await reserved).toEqual({ kind: 'reserved', takenOver: false });
  });

  it('repeats a statement also in a process that has run for a day', async () => {
    const now = performance.now.bind(performance);
    const aged = jest.spyOn(performance, 'now').mockImplementation(() => now() + DAY_MS);
    try {
      const { claims } = await open();
      const isCut = proxy.cutAt('INSERT INTO claims', 'before');
      expect(await claims.reserve(key, attempt('a'))).toEqual({ kind: 'reserved', takenOver: false });
      await isCut;
    } finally {
      aged.mockRestore();
    }
  });

  it('lets a request wait for a connection for as long as others use them all', async () => {
    const holder = new Client(database.url);
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    const db = createPostgresConnection({ url: database.url, connections: 1, giveUpAfterMs: 0 });
    const read = (sql: string) => db.read([{ sql, params: [] }]).then(([result]) => result?.rows);
    await read('SELECT 1');
    jest.useFakeTimers({ doNotFake: [...OTHER_CLOCKS] });
    try {
      const first = read('SELECT pg_advisory_lock(1) IS NULL AS a');
      const second = read('SELECT 2 AS b');
      await nextTurn();
      // Longer than the pool lets one wait, and shorter than the first one's limit.
      jest.advanceTimersByTime(10_000);
      await holder.query('SELECT pg_advisory_unlock(1)');
      expect(await Promise.all([first, second])).toEqual([[{ a: false }], [{ b: 2 }]]);
    } finally {
      jest.useRealTimers();
      await holder.end();
      await db.close();
    }
  });

  it('leases events and keeps quotes past rows that a hanging process has locked', async () => {
    const { inbox, quotes } = await open();
    const [held, free] = [anEvent({ flowId: 'bridge-transfer/held' }), anEvent({ flowId: 'bridge-transfer/free' })];
    for (const event of [held, free]) await inbox.receive(event);
    const quote = { rateId: 'old', lifeMs: 1, cryptoAmount: '1', cryptoUnit: 'USDC', sourceAmount: '1' };
    const terms = { ...quote, sourceCurrency: 'ZAR', chain: 'CELO', token: 'USDC' };
    await quotes.remember('a', terms, 2 * DAY_MS);
    const hanging = new Client(database.url);
    // If this test fails, the database is dropped with the transaction still open.
    hanging.on('error', () => undefined);
    await hanging.connect();
    await hanging.query('BEGIN');
    await hanging.query(`SELECT 1 FROM inbox_flows WHERE flow_id = 'bridge-transfer/held' FOR UPDATE`);
    await hanging.query('SELECT 1 FROM quotes FOR UPDATE');
    const leased = async () =>
      (await inbox.lease({ proven: 9, unproven: 9, perFlow: 9, leaseMs: 60_000 })).flatMap(({ rows }) => rows);
    expect((await leased()).map(({ id }) => id)).toEqual([free.id]);
    await quotes.remember('a', { ...terms, rateId: 'new' }, 0);
    expect(await quotes.recall('a', 'new')).toMatchObject({ rateId: 'new' });
    await hanging.query('COMMIT');
    await hanging.end();
    expect((await leased()).map(({ id }) => id)).toEqual([held.id]);
  });

  it('fails each request as StoreUnavailableError while its database is away: no claim counts as absent', async () => {
    const { claims, inbox } = await open(50);
    await claims.reserve(key, attempt('a'));
    proxy.down(true);
    const asked = [
      claims.get(key),
      claims.reserve(key, attempt('b')),
      claims.markSending(key, 'a'),
      claims.voidUnsent(key, attempt(''), 'x'),
      inbox.receive(anEvent()),
      inbox.list({}),
    ];
    for (const result of await Promise.allSettled(asked)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
    }
    proxy.down(false);
    expect(await claims.get(key)).toMatchObject({ phase: 'reserved', owner: 'a' });
  });

  it('repeats a request when the server ends its sessions', async () => {
    const { claims } = await open();
    await claims.reserve(key, attempt('a'));
    const others = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()';
    await database.query(`${others} AND datname = current_database()`);
    expect(await claims.markSending(key, 'a')).toBe('sending');
  });

  it('commits with synchronous_commit on, in READ COMMITTED, whatever the defaults of the database are', async () => {
    const name = new URL(database.url).pathname.slice(1);
    for (const setting of ['synchronous_commit = off', "default_transaction_isolation = 'serializable'"]) {
      await database.query(`ALTER DATABASE ${name} SET ${setting}`);
    }
    const db = createPostgresConnection({ url: database.url });
    const asked = ['synchronous_commit', 'transaction_isolation'].map(
      (name) => `current_setting('${name}') AS ${name}`,
    );
    const [result] = await db.write([{ sql: `SELECT ${asked.join(', ')}`, params: [] }], turnOf.meta);
    expect(result?.rows).toEqual([{ synchronous_commit: 'on', transaction_isolation: 'read committed' }]);
    await db.close();
  });

  it('sees one state of the database in one read, and undoes a request whole', async () => {
    const db = createPostgresConnection({ url: database.url });
    const write = (sql: string, ...params: number[]) => db.write([{ sql, params }], turnOf.meta);
    await write('CREATE TABLE t (a BIGINT PRIMARY KEY)');
    await write('INSERT INTO t VALUES (?)', 1);
    const insert = (n: number) => ({ sql: 'INSERT INTO t VALUES (?)', params: [n] });
    await expect(db.write([insert(2), insert(1)], turnOf.meta)).rejects.toMatchObject({ code: '23505' });
    const all = { sql: 'SELECT a FROM t', params: [] };
    expect((await db.read([all, all])).map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ a: 1 }]]);
    await db.close();
  });

  it('goes by the clock of the database, however wrong the one of this machine is', async () => {
    const db = createPostgresConnection({ url: database.url });
    const anHourMs = 3_600_000;
    for (const wrongByMs of [anHourMs, -anHourMs]) {
      const now = await followDatabaseClock(db, () => Date.now() + wrongByMs);
      // The cluster of the tests is on this machine: a minute is more than any load, and less than an hour.
      expect(Math.abs(now() - Date.now())).toBeLessThan(60_000);
    }
    await db.close();
  });

  it('may live in a schema of its own', async () => {
    await database.query('CREATE SCHEMA towline');
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=towline');
    const store = await openPostgresStore({ url: url.href, keyring });
    stores.push(store);
    await store.inbox.receive(anEvent());
    expect(await database.query('SELECT state FROM towline.inbox')).toEqual([{ state: 'waiting' }]);
  });

  it('stores a text with a NUL, which Postgres has not', async () => {
    const { inbox } = await open();
    const { id } = await inbox.receive(anEvent({ status: 'DONE\0', body: { status: 'DONE\0' } }));
    expect(await inbox.get(id)).toMatchObject({ status: 'DONE\uFFFD', body: { status: 'DONE\0' } });
  });

  it('deletes the note of a commit after a day', async () => {
    const { claims, inbox } = await open();
    await claims.reserve(key, attempt('a'));
    const kept = () => database.query('SELECT count(*)::int AS n FROM commits');
    await inbox.purgeBodies(new Date(0));
    expect(await kept()).toEqual([{ n: 1 }]);
    await database.query('UPDATE commits SET at = at - 2 * 86400000');
    await inbox.purgeBodies(new Date(0));
    expect(await kept()).toEqual([{ n: 0 }]);
  });

  it('keeps no note of a commit whose repetition has no effect', async () => {
    const { claims, inbox } = await open();
    await inbox.receive(anEvent());
    await claims.purgeAnswers(new Date());
    expect(await database.query('SELECT id FROM commits')).toEqual([]);
  });

  it('shows nothing of its URL in an error', async () => {
    const wrong = [
      [(url: URL) => (url.password = 'canary-password'), '28P01'],
      [(url: URL) => (url.pathname = '/canary'), '3D000'],
      [(url: URL) => (url.host = '127.0.0.1:1'), 'ECONNREFUSED'],
    ] as const;
    for (const [change, code] of wrong) {
      const url = new URL(database.url);
      change(url);
      const opened = openPostgresStore({ url: url.href, keyring, giveUpAfterMs: 50 });
      const error: unknown = await opened.catch((cause: unknown) => cause);
      expect(error).toMatchObject({ name: 'StoreUnavailableError', code, place: 'database' });
      expect((error as Error).message).not.toMatch(/canary|127\.0\.0\.1/);
      expect((error as Error).cause).toBeUndefined();
    }
  });

  it('is migrated although a transaction of a gateway and the migration wait for one another', async () => {
    const steps = ['claims', 'inbox'].map((table) => `ALTER TABLE ${table} ADD COLUMN noted TEXT`);
    const migrations = [...MIGRATIONS, { usableFrom: 1, steps }];
    await migratePostgres(database.url);
    const [gateway, watcher] = [new Client(database.url), new Client(database.url)];
    await Promise.all([gateway.connect(), watcher.connect()]);
    // So that the database ends the migration, and not this one.
    await gateway.query(`SET deadlock_timeout = '60s'`);
    await gateway.query('BEGIN; LOCK TABLE inbox IN ROW EXCLUSIVE MODE');
    const migrated = migratePostgres(database.url, { migrations });
    await until('the migration to wait', async () => {
      const here = '(SELECT oid FROM pg_database WHERE datname = current_database())';
      const { rows } = await watcher.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND database = ${here}`);
      return rows.length > 0;
    });
    await gateway.query('LOCK TABLE claims IN ROW EXCLUSIVE MODE; COMMIT');
    expect(await migrated).toBe(migrations.length);
    // An earlier version of the product finds the newer schema, and leaves it.
    expect(await migratePostgres(database.url)).toBe(migrations.length);
    await Promise.all([gateway.end(), watcher.end()]);
  });
});
