import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openConnection } from '../../src/store/libsql/connection.js';
import { integer, text, turnOf } from '../../src/store/sql-connection.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const code = (error: unknown) => (error instanceof StoreUnavailableError ? error.code : error);
const codeOf = (work: Promise<unknown>) => work.then(() => 'it worked', code);

describe('the turn of a write', () => {
  const key = { account: 'a', operation: 'o', reference: 'r' };

  it('has the same name in every version, since processes of two versions write to one database during an update', () => {
    const later = { ...key, reference: 's' };
    const [first, second] = ['["claim","a","o","r"]', '["claim","a","o","s"]'];
    const changing = { repeatable: false };
    const repeatable = { repeatable: true };
    const local = { repeatable: true, isLocal: true };
    expect(turnOf.claim(key)).toEqual({ name: first, ...changing });
    expect(turnOf.claims([later, key])).toEqual({
      name: JSON.stringify([first, second]),
      takes: [first, second],
      ...changing,
    });
    expect(turnOf.proposal('f')).toEqual({ name: '["proposal","f"]', ...changing });
    expect(turnOf.audit(7)).toEqual({ name: '["audit",7]', ...changing });
    expect(turnOf.inbox('f')).toEqual({ name: '["inbox","f"]', ...repeatable });
    expect(turnOf.erasing('f')).toEqual({ name: '["erasing","f"]', ...repeatable });
    expect(turnOf.duty('d')).toEqual({ name: '["duty","d"]', ...repeatable });
    expect(turnOf.matter('m')).toEqual({ name: '["matter","m"]', ...repeatable });
    expect(turnOf.meta).toEqual({ name: 'meta', ...repeatable });
    expect(turnOf.epoch).toEqual({ name: 'epoch', ...repeatable });
    expect(turnOf.settling('e')).toEqual({ name: '["settling","e"]', ...local });
    expect(turnOf.leasing).toEqual({ name: 'leasing', ...local });
    expect(turnOf.purging).toEqual({ name: 'purging', ...local });
    expect(turnOf.purgingAnswers).toEqual({ name: 'purging-answers', ...local });
    expect(turnOf.quotes).toEqual({ name: 'quotes', ...local });
    expect(turnOf.checking).toEqual({ name: 'checking', ...local });
  });
});

describe('a column that is never null, read by text or integer', () => {
  it('is a TypeError if it is of another type, or missing', () => {
    const row = { word: 'PAID', count: 0, none: null };
    expect(text(row, 'word')).toBe('PAID');
    expect(integer(row, 'count')).toBe(0);
    for (const [of, column] of [
      [row, 'count'],
      [row, 'none'],
      [row, 'other'],
      [undefined, 'word'],
    ] as const)
      expect(() => text(of, column)).toThrow(TypeError);
    for (const [of, column] of [
      [row, 'word'],
      [row, 'none'],
      [row, 'other'],
      [undefined, 'count'],
    ] as const)
      expect(() => integer(of, column)).toThrow(TypeError);
  });
});

describe("the connection to a store's file", () => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
  });
  afterEach(() => temporary.remove());

  const step = (sql: string) => [{ sql, params: [] }];
  const write = (db: Awaited<ReturnType<typeof openConnection>>, sql: string) => db.write(step(sql), turnOf.meta);
  const locked = async () => {
    const { default: Database } = await import('libsql');
    const raw = new Database(temporary.place);
    raw.exec('BEGIN IMMEDIATE');
    return () => {
      raw.exec('ROLLBACK');
      raw.close();
    };
  };

  it('does not open, as SQLITE_NOTADB, if the file is no database', async () => {
    await writeFile(temporary.place, 'no database '.repeat(1_000));
    expect(await codeOf(openConnection({ path: temporary.place }))).toBe('SQLITE_NOTADB');
  });

  it('closes after the requests of before, also if those wait for the lock of another process', async () => {
    const db = await openConnection({ path: temporary.place, lockTimeoutMs: 30 });
    await write(db, 'CREATE TABLE t (a INTEGER) STRICT');
    const unlock = await locked();
    const writing = codeOf(write(db, 'INSERT INTO t VALUES (1)'));
    // The write is with the thread when the closing begins.
    await new Promise(setImmediate);
    const closing = db.close();
    expect(await codeOf(write(db, 'INSERT INTO t VALUES (2)'))).toBe('CLOSED');
    expect(await writing).toBe('SQLITE_BUSY');
    await closing;
    unlock();
  });

  it('keeps the process alive while it works or closes, and not otherwise', async () => {
    const before = ports();
    const db = await openConnection({ path: temporary.place });
    expect(ports()).toBe(before);
    const reading = db.read(step('SELECT 1 AS one'));
    await new Promise(setImmediate);
    expect(ports()).toBe(before + 1);
    await reading;
    expect(ports()).toBe(before);
    const closing = db.close();
    expect(ports()).toBe(before + 1);
    await closing;
    expect(ports()).toBe(before);
  });

  it('fails open requests as CLOSED, and is not lost, if its thread dies while it closes', async () => {
    const db = await openConnection({ path: temporary.place, heapMb: 16 });
    const long = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000)
      SELECT i, 'row ' || i AS a, 'of many ' || i AS b FROM n`;
    const reading = codeOf(db.read(step(long)));
    await new Promise(setImmediate);
    const waiting = codeOf(db.read(step('SELECT 1 AS one')));
    await db.close();
    expect([await reading, await waiting]).toEqual(['CLOSED', 'CLOSED']);
    expect(
      await Promise.race([db.lost?.catch(() => 'lost'), new Promise((done) => setImmediate(done, 'closed'))]),
    ).toBe('closed');
  });
});

/** Channels to threads that keep this process alive. */
const ports = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
