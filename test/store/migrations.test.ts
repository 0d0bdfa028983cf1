import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LIBSQL_MIGRATIONS } from '../../src/store/libsql/migrations.js';
import { POSTGRES_MIGRATIONS } from '../../src/store/postgres/migrations.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

/** Before what waits had fewer indexes and was counted when it is asked for. */
const BEFORE_CHEAPER_RECEIPT = 2;

/** Two of the first, three of the second and so on. */
const STATES = ['waiting', 'delivered', 'applied', 'unmatched'];

describeStores('a store that an earlier version made', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    const migrations = (kind === 'libsql' ? LIBSQL_MIGRATIONS : POSTGRES_MIGRATIONS).slice(0, BEFORE_CHEAPER_RECEIPT);
    await temporary.execute('CREATE TABLE migrations (version INTEGER PRIMARY KEY)');
    for (const [index, statements] of migrations.entries()) {
      for (const sql of statements) await temporary.execute(sql);
      await temporary.execute(`INSERT INTO migrations VALUES (${index + 1})`);
    }
  });
  afterEach(() => temporary.remove());

  const flowId = (state: string) => (state === 'unmatched' ? 'NULL' : `'bridge-transfer/${state}'`);

  async function fill(): Promise<void> {
    for (const [place, state] of STATES.entries()) {
      for (let n = 0; n < place + 2; n += 1) {
        await temporary.execute(
          `INSERT INTO inbox (id, source, flow_id, came_trusted, content_hash, state, received_at)
           VALUES ('${state}-${n}', 'callback', ${flowId(state)}, 1, '${state}-${n}', '${state}', 1000)`,
        );
      }
    }
    await temporary.execute(`INSERT INTO inbox_flows (flow_id, due_at) VALUES ('bridge-transfer/waiting', 0)`);
  }

  it('keeps its rows, and their counts go on', async () => {
    await fill();
    const { inbox } = await temporary.open();
    expect((await inbox.counts()).byState).toMatchObject({ waiting: 2, delivered: 3, applied: 4, unmatched: 5 });
    for (const [place, state] of STATES.entries()) {
      const rows = await inbox.list(state === 'unmatched' ? { state } : { flowId: `bridge-transfer/${state}` });
      const ids = Array.from({ length: place + 2 }, (_, n) => `${state}-${n}`);
      expect(rows.map(({ id }) => id)).toEqual(ids.toReversed());
    }

    await inbox.receive(anEvent({ flowId: 'bridge-transfer/waiting' }));
    const [batch] = await inbox.lease({ flows: 9, perFlow: 9, leaseMs: 1_000 });
    expect(batch?.rows).toHaveLength(3);
    await inbox.markDelivered(['waiting-0']);
    await inbox.settle([{ id: 'delivered-0', state: 'applied' }]);
    expect((await inbox.counts()).byState).toMatchObject({ waiting: 2, delivered: 3, applied: 5, unmatched: 5 });
  });
});
