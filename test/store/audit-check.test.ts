import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { auditHash } from '../../src/store/audit.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { auditPlace } from '../../src/store/sql-audit.js';
import { createSealedJson } from '../../src/store/store-key.js';
import type { Store } from '../../src/store/store.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describe('the check of the audit log', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const append = (flowId: string, to = store) =>
    to.audit.append({ kind: 'order', flowId, action: 'cancel', actor: 'alice', means: 'token', details: { n: 1 } });
  /** Chain 1 with its first entry, and one for each flow. */
  const entriesOf = async (...flows: readonly string[]) => {
    for (const flowId of flows) await append(flowId);
  };
  const tamper = async (...statements: readonly string[]) => {
    for (const name of ['audit_no_change', 'audit_no_delete'])
      await temporary.execute(`DROP TRIGGER IF EXISTS ${name}`);
    for (const sql of statements) await temporary.execute(sql);
  };
  const problems = async () => (await store.audit.verify()).problems;

  it('reads a log of more than one page, each entry once', async () => {
    await Promise.all(Array.from({ length: 1_004 }, (_, n) => append(`onramp/${n}`)));
    const { entries, chains, heads, problems: found } = await store.audit.verify();
    expect([entries, chains, found]).toEqual([1_005, 1, []]);
    expect(heads).toMatchObject([{ chain: 1, number: 1_005 }]);
    // Of both pages, and no more sentences than a person reads.
    await tamper(`UPDATE audit SET actor = 'bob' WHERE number <= 60 OR number > 960`);
    const listed = await problems();
    expect(listed).toHaveLength(100);
    expect(listed[0]).toBe('Chain 1, entry 1: its content was changed.');
    expect(listed.at(-1)).toBe('Chain 1, entry 1000: its content was changed.');
    await tamper(`DELETE FROM audit WHERE number < 1000`);
    expect(await problems()).toEqual([
      'Chain 1: entries 1 to 999 are missing.',
      ...Array.from({ length: 6 }, (_, n) => `Chain 1, entry ${1000 + n}: its content was changed.`),
    ]);
  });

  it('counts entries and chains, and gives the end of each chain as its head', async () => {
    expect(await store.audit.verify()).toEqual({ entries: 0, chains: 0, heads: [], problems: [] });
    await entriesOf('onramp/a');
    const other = await temporary.open();
    await append('onramp/b', other);
    await append('onramp/c', other);
    const all = await store.audit.list({ limit: 9, oldestFirst: true });
    const headAt = (chain: number, number: number) => ({
      chain,
      number,
      hash: all.find((entry) => entry.chain === chain && entry.number === number)?.hash,
    });
    expect(await store.audit.verify()).toEqual({
      entries: 5,
      chains: 2,
      heads: [headAt(1, 2), headAt(2, 3)],
      problems: [],
    });
  });

  it('names one missing entry, several in a row, and the first of a chain', async () => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/c', 'onramp/d', 'onramp/e');
    await tamper(`DELETE FROM audit WHERE number IN (1, 3, 4)`);
    expect(await problems()).toEqual(['Chain 1: entry 1 is missing.', 'Chain 1: entries 3 to 4 are missing.']);
  });

  it('names each chain that is missing, and does not take the next one for its continuation', async () => {
    await entriesOf('onramp/a');
    const [second, third] = [await temporary.open(), await temporary.open()];
    await append('onramp/b', second);
    await append('onramp/c', third);
    await tamper(`DELETE FROM audit WHERE chain = 2`);
    expect(await problems()).toEqual([
      'Chain 2 is missing.',
      'Chain 2, entry 2 is missing: chain 3, which began later, had it as an end.',
    ]);
    await tamper(`DELETE FROM audit WHERE chain = 1`);
    expect((await problems()).slice(0, 2)).toEqual(['Chain 1 is missing.', 'Chain 2 is missing.']);
  });

  it('names the entry after one that was replaced with one of another store', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const entry = (await store.audit.list({ limit: 9 })).find(({ number }) => number === 2);
    if (entry === undefined) throw new Error('no entry 2');
    const hash = auditHash({ ...entry, actor: 'bob' });
    await tamper(`UPDATE audit SET actor = 'bob', hash = '${hash}' WHERE number = 2`);
    expect(await problems()).toEqual([
      'Chain 1, entry 2: it was not written with a key of this store.',
      'Chain 1, entry 3: the entry before it is another one than the one it followed.',
    ]);
  });

  it('names a first entry that follows another one', async () => {
    await entriesOf('onramp/a');
    await tamper(`UPDATE audit SET previous = '${'1'.repeat(64)}' WHERE number = 1`);
    expect(await problems()).toEqual([
      'Chain 1, entry 1: the entry before it is another one than the one it followed.',
      'Chain 1, entry 1: its content was changed.',
    ]);
  });

  it('names the entry whose details were replaced by a person who has a payload key', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const details = createSealedJson(keyring).seal(auditPlace(1, 2), { n: 2, salt: '00' });
    const db = await openConnection({ path: temporary.place });
    await db.write([{ sql: 'UPDATE audit SET details = ? WHERE number = 2', params: [details] }], turnOf.meta);
    await db.close();
    expect(await problems()).toEqual(['Chain 1, entry 2: its details were changed.']);
  });

  it('takes missing details as erased only in the flow of which an entry says that', async () => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/a');
    await tamper(`UPDATE audit SET details = NULL WHERE number IN (1, 2, 3)`);
    const missing = (number: number) =>
      `Chain 1, entry ${number}: its details are missing, and no entry says that its flow was erased.`;
    expect(await problems()).toEqual([missing(1), missing(2), missing(3)]);
    await store.audit.append({ kind: 'erase', flowId: 'onramp/b', actor: 'ann', means: 'token' });
    expect(await problems()).toEqual([missing(1), missing(2)]);
  });

  it('names a head that was kept, and says whether it is missing or another one; by the first who saw it', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const { heads } = await store.audit.verify();
    await append('onramp/c', await temporary.open());
    const other = { chain: 1, number: 2, hash: 'another' };
    expect((await store.audit.verify([...heads, other])).problems).toEqual([
      'Chain 1, entry 2 is another one than the heads that were kept had.',
    ]);
    await tamper(`DELETE FROM audit WHERE chain = 1 AND number = 3`);
    expect((await store.audit.verify(heads)).problems).toEqual([
      'Chain 1, entry 3 is missing: the heads that were kept had it as an end.',
    ]);
  });
});
