import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { AuditNote, AuditStore } from '../../src/store/audit.js';
import { createSqlAudit } from '../../src/store/sql-audit.js';
import type { Store } from '../../src/store/store.js';
import { createSealedJson } from '../../src/store/store-key.js';
import { readCosts } from './read-costs.js';
import { describeStores } from './store-kinds.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const order = (flowId: string, more: Partial<AuditNote> = {}): AuditNote => ({
  kind: 'order',
  flowId,
  action: 'mark-completed',
  actor: 'alice',
  role: 'operator',
  means: 'token',
  details: { note: 'seen', evidence: { amount: '12.50' } },
  ...more,
});

describeStores('the audit log', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  it('keeps what was done, by whom and with which evidence, newest first, and page by page', async () => {
    await store.audit.append(order('onramp/a', { kind: 'start', action: undefined, details: { amount: '12.50' } }));
    await store.audit.append(order('onramp/a'));
    await store.audit.append(order('onramp/b', { actor: 'bob', kind: 'refused' }));
    const [newest] = await store.audit.list({ limit: 1 });
    expect(newest).toMatchObject({ flowId: 'onramp/b', actor: 'bob', kind: 'refused', at: '2026-01-01T00:00:00.000Z' });
    const rest = await store.audit.list({ limit: 10, after: newest?.seq });
    expect(rest.map((one) => one.kind)).toEqual(['order', 'start', 'chain']);
    expect(rest[0]?.details).toMatchObject({ note: 'seen', evidence: { amount: '12.50' } });
    expect(await store.audit.list({ limit: 10, flowId: 'onramp/a', kind: 'order' })).toHaveLength(1);
    expect((await store.audit.list({ limit: 2, oldestFirst: true })).map(({ number }) => number)).toEqual([1, 2]);
    expect(await store.audit.startersOf('onramp/a')).toEqual(['alice']);
    expect(await store.audit.startersOf('onramp/b')).toEqual([]);
  });

  it('lets no row be changed or deleted while the triggers of its table stand', async () => {
    await store.audit.append(order('onramp/a'));
    await expect(temporary.execute(`UPDATE audit SET actor = 'bob' WHERE number = 2`)).rejects.toThrow();
    await expect(temporary.execute(`DELETE FROM audit WHERE number = 2`)).rejects.toThrow();
    expect(await store.audit.verify()).toMatchObject({ entries: 2, chains: 1, problems: [] });
  });

  it('names, in its check, the entry of whose sealed details one byte was changed', async () => {
    await store.audit.append(order('onramp/a'));
    await store.audit.append(order('onramp/b'));
    const flipped =
      kind === 'postgres'
        ? `set_byte(details, 40, get_byte(details, 40) # 1)`
        : `CAST(substr(details, 1, 40) || CASE WHEN substr(details, 41, 1) = X'00' THEN X'01' ELSE X'00' END
             || substr(details, 42) AS BLOB)`;
    await temporary.execute(`UPDATE audit SET details = ${flipped} WHERE number = 2`);
    expect((await store.audit.verify()).problems).toMatchObject([{ code: 'details_unreadable', chain: 1, entry: 2 }]);
  });

  it('is written by several processes at once, each with a chain of its own, and every entry is there', async () => {
    const stores = [store, await temporary.open(), await temporary.open()];
    const flows = Array.from({ length: 40 }, (_, index) => `onramp/${index}`);
    await Promise.all(stores.flatMap(({ audit }) => flows.map((flowId) => audit.append(order(flowId)))));
    const { entries, chains, problems: found } = await store.audit.verify();
    expect([entries, chains, found]).toEqual([3 * 40 + 3, 3, []]);
  });

  it('reads one entry of each chain to begin another one, and one for each starter of a flow, however many there are', async () => {
    await store.audit.append(order('onramp/a', { kind: 'start', actor: 'shop' }));
    await fill(`'refused'`, `'shop'`);
    const costs = await costsOf(async (audit) => {
      await audit.append(order('onramp/b'));
      expect(await audit.startersOf('onramp/a')).toEqual(['shop']);
      const [begun] = await store.audit.list({ limit: 1, kind: 'chain' });
      expect(begun?.details).toMatchObject({ heads: [{ chain: 1, number: 5_000, hash: 'hash of 5000' }] });
    });
    expect(costs).toEqual(costs.map(() => 1));
  });

  it('reads no entries of others for a page of one flow, one actor or one kind', async () => {
    await store.audit.append(order('onramp/b', { kind: 'withdrawal' }));
    await fill(`'kind ' || number % 10`, `'actor ' || number % 500`);
    const pages = [{ flowId: 'onramp/b' }, { actor: 'alice' }, { kind: 'withdrawal' }] as const;
    for (const page of pages) {
      const costs = await costsOf(async (audit) => {
        expect(await audit.list({ ...page, limit: 50 })).toMatchObject([{ actor: 'alice', kind: 'withdrawal' }]);
        await audit.list({ ...page, limit: 50, after: 0, oldestFirst: true });
      });
      expect({ page, costs }).toEqual({ page, costs: [1, 1] });
    }
  });

  it('reads no entries that only one filter finds for a page by two or three filters', async () => {
    await store.audit.append(order('onramp/b', { kind: 'withdrawal' }));
    // Who has an odd number gives orders, and is never refused.
    await fill(`CASE number % 2 WHEN 1 THEN 'order' ELSE 'refused' END`, `'actor ' || number % 500`);
    const pages = [
      { flowId: 'onramp/b', kind: 'order' },
      { flowId: 'onramp/b', actor: 'actor 3' },
      { flowId: 'onramp/b', actor: 'actor 3', kind: 'order' },
      { actor: 'actor 3', kind: 'refused' },
    ] as const;
    const lookedUp = /^(flow_id=\?|actor=\? AND kind=\?)$/;
    for (const page of pages) {
      const costs = await costsOf(
        async (audit) => expect(await audit.list({ ...page, limit: 50 })).toEqual([]),
        lookedUp,
      );
      expect({ page, costly: costs.filter((cost) => Number(cost) > 1) }).toEqual({ page, costly: [] });
    }
  });

  /** Adds entries 3 to 5000 of the first chain. Their hashes are invented. */
  const fill = async (kindSql: string, actorSql: string) => {
    await temporary.execute(`INSERT INTO audit
      (chain, number, at, kind, flow_id, actor, means, details_hash, previous, hash, mac)
      WITH RECURSIVE more(number) AS (SELECT 3 UNION ALL SELECT number + 1 FROM more WHERE number < 5000)
      SELECT 1, number, 0, ${kindSql}, 'onramp/a', ${actorSql}, 'token', '', '', 'hash of ' || number, '' FROM more`);
    await temporary.execute('ANALYZE');
  };

  const BY_ONE = /^((chain|flow_id|actor|kind)=\?( AND (seq|rowid)>\?)?)?$/;
  const costsOf = (work: (audit: AuditStore) => Promise<void>, lookedUp = BY_ONE) =>
    readCosts(kind, temporary.place, lookedUp, (db) => {
      const storeKey = { mac: (_purpose: string, hash: string) => hash, macs: () => [] };
      return work(createSqlAudit({ db, sealed: createSealedJson(keyring), storeKey, now: temporary.clock.now }));
    });

  it('that cannot be written is a StoreUnavailableError of the audit log, and is whole once it can be written again', async () => {
    await store.audit.append(order('onramp/a'));
    await temporary.execute(
      kind === 'postgres'
        ? 'ALTER TABLE audit ADD CONSTRAINT audit_full CHECK (false) NOT VALID'
        : `CREATE TRIGGER audit_full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
    for (const flowId of ['onramp/b', 'onramp/c']) {
      await expect(store.audit.append(order(flowId))).rejects.toMatchObject({
        name: 'StoreUnavailableError',
        isOfAudit: true,
      });
    }
    await temporary.execute(
      kind === 'postgres' ? 'ALTER TABLE audit DROP CONSTRAINT audit_full' : 'DROP TRIGGER audit_full',
    );
    await store.audit.append(order('onramp/d'));
    expect(await store.audit.verify()).toMatchObject({ entries: 4, chains: 2, problems: [] });
  });
});
