import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createKeyring, UnknownKeyError } from '../../src/keys/index.js';
import { openConnection } from '../../src/store/libsql-connection.js';
import { migrate } from '../../src/store/migrations.js';
import { createLibsqlStore, openStore } from '../../src/store/open-store.js';
import { StoreRequestError, StoreTooNewError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { anEvent, keyring, makeTemporaryFolder, type TemporaryFolder } from './temporary-store.js';

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await makeTemporaryFolder();
});
afterEach(() => folder.remove());

const code = (error: unknown) => (error instanceof StoreUnavailableError ? error.code : error);

describe('the file', () => {
  it('is for its owner alone, and keeps its key for fingerprints from one opening to the next', async () => {
    const store = await folder.open();
    await store.check();
    for (const name of await readdir(dirname(folder.path))) {
      expect([name, (await stat(join(dirname(folder.path), name))).mode & 0o077]).toEqual([name, 0]);
    }
    const first = store.mac('fingerprint', 'x');
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(store.mac('event', 'x')).not.toBe(first);
    await store.close();
    expect((await folder.open()).mac('fingerprint', 'x')).toBe(first);
  });

  it('syncs each commit', async () => {
    const db = await openConnection({ path: folder.path });
    const [mode, sync] = await db.read([
      { sql: 'PRAGMA journal_mode', params: [] },
      { sql: 'PRAGMA synchronous', params: [] },
    ]);
    expect([mode?.rows[0], sync?.rows[0]]).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }]);
    await db.close();
  });

  it('of a newer Towline is left alone', async () => {
    const store = await folder.open();
    await store.close();
    const db = await openConnection({ path: folder.path });
    await db.write([{ sql: 'INSERT INTO migrations VALUES (999)', params: [] }]);
    await db.close();
    await expect(folder.open()).rejects.toThrow(StoreTooNewError);
  });

  it('does not open without the keys it was made with', async () => {
    await folder.open();
    const other = createKeyring([{ id: 'other', bytes: new Uint8Array(32) }]);
    await expect(openStore({ path: folder.path, keyring: other })).rejects.toThrow(UnknownKeyError);
  });

  it('that cannot be opened is an error with a code', async () => {
    const path = join(folder.path, 'not', 'a', 'folder');
    await folder.open();
    expect(code(await openStore({ path, keyring }).catch((error: unknown) => error))).toBe('ENOTDIR');
  });

  it('holds nothing of bodies, answers, refusals, notes and details in the clear', async () => {
    const { claims, inbox } = await folder.open();
    const canary = 'Jane-Canary-256700000001';
    const key = (reference: string) => ({ account: 'a', operation: 'o', reference });
    const attempt = { owner: 'x', flowId: 'f', fingerprint: 'f' };
    const send = async (reference: string) => {
      await claims.reserve(key(reference), attempt);
      await claims.markSending(key(reference), 'x');
    };
    const event = anEvent({ body: { name: canary } });
    await inbox.receive(event);
    await inbox.settle([{ id: event.id, state: 'conflicting', detail: canary }]);
    for (const reference of ['1', '2', '3', '4']) await send(reference);
    await claims.recordAnswer(key('1'), { name: canary });
    await claims.recordRejection(key('2'), 'x', { httpStatus: 400, message: canary });
    await claims.closeNotExecuted(key('3'), { actor: 'jane', note: canary });
    await claims.orderSendAgain(key('4'), 'y', { actor: 'jane', note: canary });
    await claims.voidUnsent(key('5'), attempt, canary);
    const files = await readdir(dirname(folder.path));
    expect(files).toContain('store.db-wal');
    for (const name of files) {
      const bytes = await readFile(join(dirname(folder.path), name), 'latin1');
      expect([name, bytes.includes('Canary'), bytes.includes('2567000')]).toEqual([name, false, false]);
    }
  });
});

describe('a request', () => {
  it('that fails leaves those alone that share its transaction', async () => {
    const { inbox } = await folder.open();
    const taken = anEvent();
    await inbox.receive(taken);
    const good = [anEvent(), anEvent(), anEvent()];
    const bad = anEvent({ id: taken.id });
    const [a, b, refused, c] = await Promise.allSettled(
      [good[0], good[1], bad, good[2]].map((e) => inbox.receive(e ?? bad)),
    );
    expect([a, b, c].map((result) => result?.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(refused).toMatchObject({ reason: expect.any(StoreRequestError) });
    for (const { id } of good) expect((await inbox.get(id))?.state).toBe('waiting');
  });

  it('is undone whole when its last step fails', async () => {
    const db = await openConnection({ path: folder.path });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT', params: [] }]);
    const insert = (n: number) => ({ sql: 'INSERT INTO t VALUES (?)', params: [n] });
    const [first, second, third] = await Promise.allSettled([
      db.write([insert(1)]),
      db.write([insert(2), insert(1)]),
      db.write([insert(3)]),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const [rows] = await db.read([{ sql: 'SELECT a FROM t', params: [] }]);
    expect(rows?.rows).toEqual([{ a: 1 }, { a: 3 }]);
    await db.close();
  });

  it('waits for the lock of another process, and gives up with a code; reading needs no lock', async () => {
    const patient = await openConnection({ path: folder.path });
    const db = await openConnection({ path: folder.path, lockTimeoutMs: 30 });
    await db.write([{ sql: 'CREATE TABLE t (a INTEGER) STRICT', params: [] }]);
    // By hand, since a connection of ours never leaves a transaction open.
    const { default: Database } = await import('libsql');
    const raw = new Database(folder.path);
    raw.exec('BEGIN IMMEDIATE');
    const write = () => db.write([{ sql: 'INSERT INTO t VALUES (1)', params: [] }]);
    expect(code(await write().catch((error: unknown) => error))).toBe('SQLITE_BUSY');
    expect((await db.read([{ sql: 'SELECT count(*) AS n FROM t', params: [] }]))[0]?.rows).toEqual([{ n: 0 }]);
    const waiting = patient.write([{ sql: 'INSERT INTO t VALUES (2)', params: [] }]);
    raw.exec('ROLLBACK');
    raw.close();
    await waiting;
    await write();
    await Promise.all([patient.close(), db.close()]);
  });

  it('that was asked before the closing is done; one after it is refused', async () => {
    const store = await folder.open();
    const events = Array.from({ length: 300 }, () => anEvent());
    const received = Promise.all(events.map((event) => store.inbox.receive(event)));
    await Promise.all([store.close(), store.close()]);
    expect(await received).toHaveLength(300);
    for (const refused of [store.check(), store.inbox.receive(anEvent()), store.inbox.counts()]) {
      expect(code(await refused.catch((error: unknown) => error))).toBe('CLOSED');
    }
    expect((await (await folder.open()).inbox.counts()).byState.waiting).toBe(300);
  });
});

describe('a full disk', () => {
  it('is an error, of the whole batch, that leaves nothing half-written', async () => {
    await (await folder.open()).close();
    const db = await openConnection({ path: folder.path, pragmas: ['max_page_count=120'] });
    await migrate(db);
    const store = await createLibsqlStore(db, keyring, Date.now);
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
    const leased = await store.inbox.lease({ flows: 9, perFlow: 99, leaseMs: 1 });
    expect(leased.flatMap(({ rows }) => rows)).toHaveLength(stored.length);
    await store.close();
  });
});
