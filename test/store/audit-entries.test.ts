import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AuditNote } from '../../src/store/audit.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { auditPlace, createSqlAudit } from '../../src/store/sql-audit.js';
import type { SqlConnection } from '../../src/store/sql-connection.js';
import type { Store } from '../../src/store/store.js';
import { StoreRequestError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { createSealedJson } from '../../src/store/store-key.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const note = (more: Partial<AuditNote> = {}): AuditNote => ({
  kind: 'order',
  flowId: 'onramp/a',
  actor: 'alice',
  means: 'token',
  ...more,
});

describe('an entry of the audit log', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  it('has all members of its note, and null for those that it lacks; the first one of a chain is by Towline itself', async () => {
    const full = { subject: 'event-1', action: 'mark-failed', role: 'operator' };
    await store.audit.append(note({ ...full, details: { note: 'x' } }));
    await store.audit.append({ kind: 'order', actor: 'bob', means: 'token' });
    const [first, second, third] = await store.audit.list({ limit: 9, oldestFirst: true });
    const none = { flowId: null, subject: null, action: null, role: null };
    expect(first).toMatchObject({ ...none, kind: 'chain', actor: 'towline', means: 'towline', details: { heads: [] } });
    expect(second).toMatchObject({ ...full, kind: 'order', flowId: 'onramp/a', actor: 'alice', means: 'token' });
    expect(second).toMatchObject({ chain: 1, number: 2, details: { note: 'x' } });
    expect(third).toMatchObject({ ...none, actor: 'bob', chain: 1, number: 3, details: expect.any(Object) });
  });

  it('is listed page by page, from the oldest or from the newest, with or without filters', async () => {
    for (const actor of ['alice', 'bob', 'alice', 'bob', 'alice']) await store.audit.append(note({ actor }));
    const numbers = async (query: Parameters<Store['audit']['list']>[0]) =>
      (await store.audit.list(query)).map(({ number }) => number);
    const seqOf = async (number: number) =>
      (await store.audit.list({ limit: 9 })).find((entry) => entry.number === number)?.seq;
    expect(await numbers({ limit: 2, oldestFirst: true, after: await seqOf(2) })).toEqual([3, 4]);
    expect(await numbers({ limit: 2, after: await seqOf(4) })).toEqual([3, 2]);
    expect(await numbers({ limit: 9, oldestFirst: true, after: await seqOf(2), actor: 'alice' })).toEqual([4, 6]);
    expect(await numbers({ limit: 9, actor: 'bob', flowId: 'onramp/a', kind: 'order' })).toEqual([5, 3]);
    expect(await numbers({ limit: 9, actor: 'bob', flowId: 'onramp/b' })).toEqual([]);
  });

  it('of a start counts for the starters of its flow, unless that start was refused, or nothing proves who it was', async () => {
    const start = (actor: string, more: Partial<AuditNote> = {}) =>
      store.audit.append(note({ kind: 'start', actor, subject: `of ${actor}`, ...more }));
    await start('forger', { means: 'unproven' });
    for (const actor of ['shop', 'alice', 'bob']) await start(actor);
    await start('shop', { kind: 'refused', action: 'cancel' });
    await start('alice', { kind: 'refused', action: 'start', means: 'unproven' });
    await start('bob', { kind: 'refused', action: 'start' });
    expect((await store.audit.startersOf('onramp/a')).toSorted()).toEqual(['alice', 'shop']);
    await start('bob', { subject: 'a second one' });
    expect((await store.audit.startersOf('onramp/a')).toSorted()).toEqual(['alice', 'bob', 'shop']);
    expect(await store.audit.startersOf('onramp/b')).toEqual([]);
  });

  it('has its details sealed for its chain and number, in every version', () => {
    expect(auditPlace(1, 2)).toEqual(['audit', '1', '2']);
  });

  it('that begins a chain repeats the ends of the 32 newest others, newest first', async () => {
    await temporary.execute(`INSERT INTO audit
      (chain, number, at, kind, actor, means, details_hash, previous, hash, mac)
      WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 40)
      SELECT n, 1, 0, 'chain', 'towline', 'towline', '', '', 'hash of ' || n, '' FROM more`);
    await store.audit.append(note());
    const [begun] = await store.audit.list({ limit: 1, kind: 'chain' });
    expect(begun?.chain).toBe(41);
    const heads = Array.from({ length: 32 }, (_, n) => ({ chain: 40 - n, number: 1, hash: `hash of ${40 - n}` }));
    expect(begun?.details?.['heads']).toEqual(heads);
  });

  it('whose details are no JSON is refused with NotJsonError, and the log goes on', async () => {
    const bad = note({ details: { amount: 12n } });
    await expect(store.audit.append(bad)).rejects.toMatchObject({ name: 'NotJsonError' });
    await store.audit.append(note());
    expect((await store.audit.verify()).problems).toEqual([]);
  });

  it('that a closed store cannot write is a StoreUnavailableError of the audit log', async () => {
    await store.close();
    await expect(store.audit.append(note())).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      code: 'CLOSED',
      isOfAudit: true,
    });
  });
});

describe('the first entry of a chain of the audit log', () => {
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

  it.each([
    [
      'ten times if another process takes its number',
      new StoreRequestError('SQLITE_CONSTRAINT_UNIQUE'),
      10,
      'database',
    ],
    ['once if it is forbidden', new StoreRequestError('SQLITE_READONLY'), 1, 'database'],
    ['once in an outage', new StoreUnavailableError('ECONNRESET', 'database'), 1, 'database'],
    ['once if the disk is full', new StoreUnavailableError('SQLITE_FULL'), 1, 'file'],
  ])('is tried %s', async (_, error, tries, place) => {
    let writes = 0;
    const write = () => {
      writes += 1;
      return Promise.reject(error);
    };
    const storeKey = { mac: (_purpose: string, hash: string) => hash, macs: () => [] };
    const sealed = createSealedJson(keyring);
    const audit = createSqlAudit({ db: { ...db, write }, sealed, storeKey, now: temporary.clock.now });
    await expect(audit.append(note())).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      code: error.code,
      place,
      isOfAudit: true,
    });
    expect(writes).toBe(tries);
  });
});
