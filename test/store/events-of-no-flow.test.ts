import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InboxRow } from '../../src/protocol/events.js';
import { createMatchingInbox } from '../../src/store/sql-inbox-matching.js';
import type { Row } from '../../src/store/sql-message.js';
import type { InboxStore } from '../../src/store/inbox.js';
import { readCosts } from './read-costs.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describeStores('wordsOfNoFlow of an inbox', (kind) => {
  let temporary: TemporaryStore;
  let inbox: InboxStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    ({ inbox } = await temporary.open());
  });
  afterEach(() => temporary.remove());

  const OF_NO_FLOW = { source: 'webhook', flowId: null, reference: 'mine', toMatch: true } as const;
  const receive = async (more: Parameters<typeof anEvent>[0]) =>
    (await inbox.receive(anEvent({ ...OF_NO_FLOW, ...more }))).id;
  const quarantined = async (more: Parameters<typeof anEvent>[0]) =>
    inbox.settle([{ id: await receive(more), state: 'quarantined' }]);
  const unmatched = async (status: string, more: Parameters<typeof anEvent>[0] = {}) =>
    inbox.match(await receive({ status, ...more }), { flowId: null, reference: 'mine', status });

  it('returns the status words of proven unmatched or quarantined events of a reference, and no others', async () => {
    await unmatched('PAID');
    await quarantined({ status: 'CONFIRMED' });
    await quarantined({ status: 'CONFIRMED' });
    await quarantined({ status: null });
    await unmatched('UNPROVEN', { proof: null });
    await quarantined({ status: 'UNPROVEN', proof: null });
    await quarantined({ status: 'OF_A_FLOW', flowId: 'bank-checkout/mine' });
    await quarantined({ status: 'OF_ANOTHER', reference: 'other' });
    expect([...(await inbox.wordsOfNoFlow('mine'))].toSorted()).toEqual(['CONFIRMED', 'PAID']);
    // Its flow cannot be found any more: decisions do not wait for that.
    expect(await inbox.hasToMatch('mine')).toBe(false);
    await receive({ status: 'WAITING' });
    expect([...(await inbox.wordsOfNoFlow('mine'))].toSorted()).toEqual(['CONFIRMED', 'PAID']);
  });

  it('reads the events of that reference alone, however many others there are', async () => {
    await quarantined({ status: 'CONFIRMED' });
    await temporary.execute(`INSERT INTO inbox
      (id, source, reference, status, proof, came_to, came_trusted, content_hash, state, received_at)
      WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 5000)
      SELECT 'other ' || n, 'webhook', 'other ' || n, 'PAID', 'signature', '', 1, 'other ' || n,
        CASE n % 2 WHEN 0 THEN 'unmatched' ELSE 'quarantined' END, 0 FROM more`);
    if (kind === 'postgres') await temporary.execute('ANALYZE');
    const costs = await readCosts(kind, temporary.place, /AND reference=\?$/, async (db) => {
      const { now } = temporary.clock;
      const toRow = (row: Row) => ({ id: row['id'] }) as InboxRow;
      const matching = createMatchingInbox({ db, now, toRow, wake: () => ({ sql: '', params: [] }) });
      expect(await matching.wordsOfNoFlow('mine')).toEqual(['CONFIRMED']);
    });
    expect(costs).toEqual([1]);
  });
});
