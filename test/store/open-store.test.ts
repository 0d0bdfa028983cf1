import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createStore } from '../../src/store/store.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { migrate } from '../../src/store/schema.js';
import { copyFileOfStore, migrateFile, openStore } from '../../src/store/libsql/open.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { StoreTooNewError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { anEvent, keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

let temporary: TemporaryStore;
beforeEach(async () => {
  temporary = await makeTemporaryStore('libsql', { inThreads: true });
});
afterEach(() => temporary.remove());

const code = (error: unknown) => (error instanceof StoreUnavailableError ? error.code : error);
const codeOf = (work: Promise<unknown>) => work.then(() => 'it worked', code);
const besideStore = (name: string) => join(dirname(temporary.place), name);
const files = async () => (await readdir(dirname(temporary.place))).toSorted();

describe('the file of a store', () => {
  it('has the mode 0600, and so have its log and index', async () => {
    const store = await temporary.open();
    await store.check();
    for (const name of await readdir(dirname(temporary.place))) {
      expect([name, (await stat(join(dirname(temporary.place), name))).mode & 0o077]).toEqual([name, 0]);
    }
  });

  it('is synced at each commit (WAL, synchronous = FULL)', async () => {
    const db = await openConnection({ path: temporary.place });
    const [mode, sync] = await db.read([
      { sql: 'PRAGMA journal_mode', params: [] },
      { sql: 'PRAGMA synchronous', params: [] },
    ]);
    expect([mode?.rows[0], sync?.rows[0]]).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }]);
    await db.close();
  });

  it('whose folder is a file does not open, as ENOTDIR', async () => {
    const path = join(temporary.place, 'not', 'a', 'folder');
    await temporary.open();
    expect(code(await openStore({ path, keyring }).catch((error: unknown) => error))).toBe('ENOTDIR');
  });

  it('that is no database does not open, as SQLITE_NOTADB', async () => {
    await writeFile(temporary.place, 'no database '.repeat(1_000));
    expect(await codeOf(openConnection({ path: temporary.place }))).toBe('SQLITE_NOTADB');
    expect(await codeOf(openStore({ path: temporary.place, keyring }))).toBe('SQLITE_NOTADB');
  });

  it('is made by a migration with its folders, with the mode 0600, and is closed after that', async () => {
    const path = besideStore(join('deep', 'deeper', 'store.db'));
    expect(await migrateFile(path)).toBe(MIGRATIONS.length);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    // Who closes a database last removes its log.
    expect(await readdir(dirname(path))).toEqual(['store.db']);
    const store = await openStore({ path, keyring });
    await store.check();
    await store.close();
  });

  it('is closed again if this build refuses its schema', async () => {
    await (await temporary.open()).close();
    await temporary.execute('INSERT INTO migrations (version, usable_from) VALUES (999, 999)');
    await expect(openStore({ path: temporary.place, keyring })).rejects.toThrow(StoreTooNewError);
    expect(await files()).toEqual(['store.db']);
  });
});

describe('copyFileOfStore', () => {
  it('makes a copy with all that was committed, with the mode 0600', async () => {
    const store = await temporary.open();
    const event = anEvent();
    await store.inbox.receive(event);
    await store.close();
    const copy = besideStore('copy.db');
    await copyFileOfStore(temporary.place, copy);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    const copied = await openStore({ path: copy, keyring });
    expect((await copied.inbox.list({})).map(({ id }) => id)).toEqual([event.id]);
    await copied.close();
  });

  it('makes no copy of a file that is not there (ENOENT), nor over another file (EEXIST)', async () => {
    const copy = besideStore('copy.db');
    expect(await codeOf(copyFileOfStore(temporary.place, copy))).toBe('ENOENT');
    expect(await files()).toEqual([]);
    await (await temporary.open()).close();
    await writeFile(copy, 'earlier');
    expect(await codeOf(copyFileOfStore(temporary.place, copy))).toBe('EEXIST');
    expect(await readFile(copy, 'utf8')).toBe('earlier');
  });

  it('leaves no copy of a file that is no database (SQLITE_NOTADB)', async () => {
    await writeFile(temporary.place, 'no database '.repeat(1_000));
    expect(await codeOf(copyFileOfStore(temporary.place, besideStore('copy.db')))).toBe('SQLITE_NOTADB');
    expect(await files()).not.toContain('copy.db');
  });
});

describe('a request to the file of a store', () => {
  it('is undone whole when its last step fails', async () => {
    const db = await openConnection({ path: temporary.place });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT', params: [] }], turnOf.meta);
    const insert = (n: number) => ({ sql: 'INSERT INTO t VALUES (?)', params: [n] });
    const [first, second, third] = await Promise.allSettled([
      db.write([insert(1)], turnOf.meta),
      db.write([insert(2), insert(1)], turnOf.meta),
      db.write([insert(3)], turnOf.meta),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const [rows] = await db.read([{ sql: 'SELECT a FROM t', params: [] }]);
    expect(rows?.rows).toEqual([{ a: 1 }, { a: 3 }]);
    await db.close();
  });

  it('that writes waits for the lock of another process, and fails as SQLITE_BUSY in the end; one that reads needs no lock', async () => {
    const patient = await openConnection({ path: temporary.place });
    const db = await openConnection({ path: temporary.place, lockTimeoutMs: 30 });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER) STRICT', params: [] }], turnOf.meta);
    // By hand, since our own connections never leave a transaction open.
    const { default: Database } = await import('libsql');
    const raw = new Database(temporary.place);
    raw.exec('BEGIN IMMEDIATE');
    const write = () => db.write([{ sql: 'INSERT INTO t VALUES (1)', params: [] }], turnOf.meta);
    expect(code(await write().catch((error: unknown) => error))).toBe('SQLITE_BUSY');
    expect((await db.read([{ sql: 'SELECT count(*) AS n FROM t', params: [] }]))[0]?.rows).toEqual([{ n: 0 }]);
    const waiting = patient.write([{ sql: 'INSERT INTO t VALUES (2)', params: [] }], turnOf.meta);
    raw.exec('ROLLBACK');
    raw.close();
    await waiting;
    await write();
    await Promise.all([patient.close(), db.close()]);
  });
});

describe('requests to the file of a store', () => {
  it('that write are done beside long reads, however often another process writes', async () => {
    const [db, busy] = [
      await openConnection({ path: temporary.place, lockTimeoutMs: 3_000 }),
      await openConnection({ path: temporary.place }),
    ];
    const insert = { sql: 'INSERT INTO t VALUES (1)', params: [] };
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER) STRICT', params: [] }], turnOf.meta);
    const other = { isOver: false };
    const writing = (async () => {
      while (!other.isOver) await busy.write([insert], turnOf.meta);
    })();
    const long = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000)
      SELECT (SELECT count(*) FROM t) > 0 AS was, count(*) AS n FROM n`;
    // Together they are one batch.
    const both = await Promise.allSettled([db.read([{ sql: long, params: [] }]), db.write([insert], turnOf.meta)]);
    other.isOver = true;
    await writing;
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    await Promise.all([db.close(), busy.close()]);
  });

  it('keep their order, however many of them wait for the lock of another process', async () => {
    const db = await openConnection({ path: temporary.place });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER) STRICT', params: [] }], turnOf.meta);
    const { default: Database } = await import('libsql');
    const raw = new Database(temporary.place);
    raw.exec('BEGIN IMMEDIATE');
    const writes = Array.from({ length: 100 }, (_, n) =>
      db.write([{ sql: 'INSERT INTO t (b) VALUES (?)', params: [n] }], turnOf.meta),
    );
    // Longer than the wait of a batch for the lock: the second one comes while the first one waits.
    await expect(Promise.race([Promise.all(writes), sleep(30, 'still waiting')])).resolves.toBe('still waiting');
    raw.exec('ROLLBACK');
    raw.close();
    await Promise.all(writes);
    const [rows] = await db.read([{ sql: 'SELECT b FROM t ORDER BY a', params: [] }]);
    expect(rows?.rows.map(({ b }) => b)).toEqual(writes.map((_, n) => n));
    await db.close();
  });

  it('that read do not wait for the lock with writes of a later batch', async () => {
    const db = await openConnection({ path: temporary.place, lockTimeoutMs: 50 });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER) STRICT', params: [] }], turnOf.meta);
    const { default: Database } = await import('libsql');
    const raw = new Database(temporary.place);
    raw.exec('BEGIN IMMEDIATE');
    // No batch has more than 256: none that has one of the first 256 reads gets to the writes.
    const reads = Array.from({ length: 512 }, () => db.read([{ sql: 'SELECT a FROM t', params: [] }]));
    const writes = Array.from({ length: 1_000 }, () =>
      db.write([{ sql: 'INSERT INTO t VALUES (1)', params: [] }], turnOf.meta),
    );
    const kinds = async (requests: readonly Promise<unknown>[]) =>
      new Set((await Promise.allSettled(requests)).map(({ status }) => status));
    const [early, late] = await Promise.all([kinds(reads.slice(0, 256)), kinds(writes), kinds(reads)]);
    expect([early, late]).toEqual([new Set(['fulfilled']), new Set(['rejected'])]);
    raw.exec('ROLLBACK');
    raw.close();
    await db.close();
  });
});

describe('a full disk under a store', () => {
  it('fails the whole batch as SQLITE_FULL, and leaves nothing half-written', async () => {
    await (await temporary.open()).close();
    const db = await openConnection({ path: temporary.place, pragmas: ['max_page_count=120'] });
    await migrate(db, MIGRATIONS);
    const store = await createStore(db, keyring, Date.now);
    const events = Array.from({ length: 64 }, () => anEvent({ body: 'x'.repeat(10_000) }));
    const stored: string[] = [];
    const codes = new Set<unknown>();
    for (let n = 0; n < events.length; n += 4) {
      for (const [index, result] of (
        await Promise.allSettled(events.slice(n, n + 4).map((event) => store.inbox.receive(event)))
      ).entries()) {
        if (result.status === 'fulfilled') stored.push(events[n + index]?.id ?? '');
        else codes.add(code(result.reason));
      }
    }
    expect([...codes]).toEqual(['SQLITE_FULL']);
    expect(stored.length).toBeGreaterThan(8);
    const rows = await store.inbox.list({ limit: 1000 });
    expect(rows.map(({ id }) => id).sort()).toEqual(stored.sort());
    expect((await store.inbox.counts()).byState.waiting).toBe(stored.length);
    const leased = await store.inbox.lease({ proven: 9, unproven: 9, perFlow: 99, leaseMs: 1 });
    expect(leased.flatMap(({ rows }) => rows)).toHaveLength(stored.length);
    await store.close();
  });
});
