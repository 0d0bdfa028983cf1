import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { openConnection } from '../../src/store/libsql/connection.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

let temporary: TemporaryStore;
beforeEach(async () => {
  temporary = await makeTemporaryStore('libsql');
  await temporary.open();
});
afterEach(() => temporary.remove());

/** More than the thread's heap holds. */
const TOO_MUCH = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000)
  SELECT i, 'row ' || i AS a, 'of many ' || i AS b FROM n`;
const asked = { sql: 'SELECT count(*) FROM claims', params: [] };

it("the connection to a store's file is lost when its thread dies, and its open and later requests fail as THREAD", async () => {
  const db = await openConnection({ path: temporary.place, heapMb: 16 });
  const results = await Promise.allSettled([db.read([{ sql: TOO_MUCH, params: [] }]), db.lost]);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
    expect(result).toMatchObject({ reason: { code: 'THREAD' } });
  }
  await expect(db.write([asked], turnOf.meta)).rejects.toThrow(StoreUnavailableError);
  await db.close();
});

it("the connection to a store's file is not lost when it is closed", async () => {
  const db = await openConnection({ path: temporary.place });
  await db.close();
  expect(await Promise.race([db.lost?.catch(() => 'lost'), db.read([asked]).catch(() => 'closed')])).toBe('closed');
});
