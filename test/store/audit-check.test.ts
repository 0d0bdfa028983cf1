import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import { auditHash, type AuditNote, detailsHashOf } from '../../src/store/audit.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { auditPlace } from '../../src/store/sql-audit.js';
import { createSealedJson } from '../../src/store/store-key.js';
import type { Store } from '../../src/store/store.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describe('audit.verify', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const append = (flowId: string, to = store, more: Partial<AuditNote> = {}) =>
    to.audit.append({
      kind: 'order',
      flowId,
      action: 'cancel',
      actor: 'alice',
      means: 'token',
      details: { note: 'seen' },
      ...more,
    });
  /** Chain 1 with its first entry, and one for each flow. */
  const entriesOf = async (...flows: readonly string[]) => {
    for (const flowId of flows) await append(flowId);
  };
  const tamper = async (...statements: readonly string[]) => {
    for (const name of ['audit_no_change', 'audit_no_delete'])
      await temporary.execute(`DROP TRIGGER IF EXISTS ${name}`);
    for (const sql of statements) await temporary.execute(sql);
  };
  /** What is wrong, where: a code, the chain, the entry, and the last one of several in a row. */
  const problems = async (...given: Parameters<Store['audit']['verify']>) =>
    (await store.audit.verify(...given)).problems.map(({ code, chain, entry, lastEntry }) =>
      [code, chain, entry, lastEntry].filter((part) => part !== undefined),
    );

  it('reads a log of more than one page, each entry once', async () => {
    await Promise.all(Array.from({ length: 1_004 }, (_, n) => append(`onramp/${n}`)));
    const { entries, chains, heads, problems: found } = await store.audit.verify();
    expect([entries, chains, found]).toEqual([1_005, 1, []]);
    expect(heads).toMatchObject([{ chain: 1, number: 1_005 }]);
    // Of both pages, and no more sentences than a person reads.
    await tamper(`UPDATE audit SET actor = 'bob' WHERE number <= 60 OR number > 960`);
    const listed = await problems();
    expect(listed).toHaveLength(100);
    expect(listed[0]).toEqual(['content_changed', 1, 1]);
    expect(listed.at(-1)).toEqual(['content_changed', 1, 1000]);
    await tamper(`DELETE FROM audit WHERE number < 1000`);
    expect(await problems()).toEqual([
      ['entries_missing', 1, 1, 999],
      ...Array.from({ length: 6 }, (_, n) => ['content_changed', 1, 1000 + n]),
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
    expect(await problems()).toEqual([
      ['entries_missing', 1, 1],
      ['entries_missing', 1, 3, 4],
    ]);
  });

  it('names each chain that is missing, and does not take the next one for its continuation', async () => {
    await entriesOf('onramp/a');
    const [second, third] = [await temporary.open(), await temporary.open()];
    await append('onramp/b', second);
    await append('onramp/c', third);
    await tamper(`DELETE FROM audit WHERE chain = 2`);
    expect(await problems()).toEqual([
      ['chain_missing', 2],
      ['head_missing', 2, 2],
    ]);
    await tamper(`DELETE FROM audit WHERE chain = 1`);
    expect((await problems()).slice(0, 2)).toEqual([
      ['chain_missing', 1],
      ['chain_missing', 2],
    ]);
  });

  it('names the entry after one that was replaced with one of another store', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const entry = (await store.audit.list({ limit: 9 })).find(({ number }) => number === 2);
    if (entry === undefined) throw new Error('no entry 2');
    const hash = auditHash({ ...entry, actor: 'bob' });
    await tamper(`UPDATE audit SET actor = 'bob', hash = '${hash}' WHERE number = 2`);
    expect(await problems()).toEqual([
      ['foreign_key', 1, 2],
      ['other_entry_before', 1, 3],
    ]);
  });

  it('names a first entry that follows another one', async () => {
    await entriesOf('onramp/a');
    await tamper(`UPDATE audit SET previous = '${'1'.repeat(64)}' WHERE number = 1`);
    expect(await problems()).toEqual([
      ['other_entry_before', 1, 1],
      ['content_changed', 1, 1],
    ]);
  });

  it('names the entry whose details were replaced by a person who has a payload key', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const details = createSealedJson(keyring).seal(auditPlace(1, 2), { n: 2, salt: '00' });
    const db = await openConnection({ path: temporary.place });
    await db.write([{ sql: 'UPDATE audit SET details = ? WHERE number = 2', params: [details] }], turnOf.meta);
    await db.close();
    expect(await problems()).toEqual([['details_changed', 1, 2]]);
  });

  it('takes missing details as erased only when an entry records that of their flow', async () => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/a');
    await tamper(`UPDATE audit SET details = NULL WHERE number IN (1, 2, 3)`);
    const missing = (number: number) => ['details_missing', 1, number];
    expect(await problems()).toEqual([missing(1), missing(2), missing(3)]);
    await store.audit.append({ kind: 'erase', flowId: 'onramp/b', actor: 'ann', means: 'token' });
    expect(await problems()).toEqual([missing(1), missing(2)]);
  });

  it('names a head that was kept if its entry is missing, and if another entry is in its place', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const { heads } = await store.audit.verify();
    await append('onramp/c', await temporary.open());
    const other = { chain: 1, number: 2, hash: 'another' };
    expect(await problems([...heads, other])).toEqual([['head_differs', 1, 2]]);
    await tamper(`DELETE FROM audit WHERE chain = 1 AND number = 3`);
    expect(await problems(heads)).toEqual([['head_missing', 1, 3]]);
  });

  it('notices entries that were cut off from the end by a chain that began later, and without one by heads that were kept', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    const { heads } = await store.audit.verify();
    expect(await problems(heads)).toEqual([]);
    await append('onramp/c', await temporary.open());
    await append('onramp/d');
    expect(await store.audit.verify(heads)).toMatchObject({ chains: 2, entries: 6, problems: [] });
    await tamper(`DELETE FROM audit WHERE chain = 1 AND number >= 3`);
    expect(await problems()).toEqual([['head_missing', 1, 3]]);
    await tamper(`DELETE FROM audit WHERE chain = 2`);
    // Nothing in the database shows it any more: heads are exported for this case.
    expect(await problems()).toEqual([]);
    expect(await problems([{ chain: 9, number: 1, hash: 'h' }, ...heads])).toEqual([
      ['head_missing', 9, 1],
      ['head_missing', 1, 3],
    ]);
  });

  it.each([
    ['actor', `UPDATE audit SET actor = 'bob' WHERE number = 3`],
    ['action', `UPDATE audit SET action = 'mark-failed' WHERE number = 3`],
    ['time', `UPDATE audit SET at = at + 1 WHERE number = 3`],
    ['flow', `UPDATE audit SET flow_id = 'onramp/z' WHERE number = 3`],
  ])('names the entry of which the %s was changed', async (_what, sql) => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/c');
    await tamper(sql);
    expect(await problems()).toEqual([['content_changed', 1, 3]]);
  });

  it('names an entry that was rewritten with all its hashes, but without the keys of the store', async () => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/c');
    const [last] = await store.audit.list({ limit: 1 });
    if (last === undefined) throw new Error('no entry');
    await tamper(`UPDATE audit SET actor = 'bob', hash = '${auditHash({ ...last, actor: 'bob' })}' WHERE number = 4`);
    expect(await problems()).toEqual([['foreign_key', 1, 4]]);
  });

  it('names the entry that has the details of another one, which cannot be opened in that place', async () => {
    await entriesOf('onramp/a', 'onramp/b');
    await tamper('UPDATE audit SET details = (SELECT details FROM audit o WHERE o.number = 2) WHERE number = 3');
    expect(await problems()).toEqual([['details_unreadable', 1, 3]]);
    expect(await store.audit.list({ limit: 1 })).toMatchObject([{ number: 3, flowId: 'onramp/b', details: null }]);
  });

  it('finds nothing wrong after the payload key was replaced, with entries of before and after', async () => {
    await entriesOf('onramp/a');
    const next = { id: 'next', bytes: new Uint8Array(32).fill(9) };
    const rotated = await temporary.open({ keyring: createKeyring([next, keyring.active]) });
    await rotated.keys.reseal({ epoch: 1 });
    await append('onramp/b', rotated);
    const later = await temporary.open({ keyring: createKeyring([next]) });
    expect(await later.audit.verify()).toMatchObject({ entries: 4, chains: 2, problems: [] });
    const [first] = await later.audit.list({ limit: 9, flowId: 'onramp/a' });
    expect(first?.details).toMatchObject({ note: 'seen' });
  });

  it('can be done by who has no key: each hash is of the entry and of the one before', async () => {
    await entriesOf('onramp/a');
    const entries = await store.audit.list({ limit: 10, oldestFirst: true });
    expect(entries).toHaveLength(2);
    entries.forEach((entry, index) => {
      expect(entry.hash).toBe(auditHash(entry));
      expect(entry.detailsHash).toBe(detailsHashOf(entry.details ?? {}));
      expect(entry.previous).toBe(index === 0 ? '0'.repeat(64) : entries[index - 1]?.hash);
    });
  });

  it('has a sentence for each code, with chain and entry, and with the holder of a head that is missing', async () => {
    await entriesOf('onramp/a', 'onramp/b', 'onramp/c');
    const { heads } = await store.audit.verify();
    await append('onramp/d', await temporary.open());
    await tamper(`UPDATE audit SET actor = 'bob' WHERE chain = 2`, 'DELETE FROM audit WHERE chain = 1 AND number > 1');
    const sentences = async (...given: Parameters<Store['audit']['verify']>) =>
      (await store.audit.verify(...given)).problems.map(({ sentence }) => sentence);
    expect(await sentences()).toEqual([
      'Chain 2, entry 1: its content was changed.',
      'Chain 2, entry 2: its content was changed.',
      'Chain 1, entry 4 is missing: chain 2, which began later, had it as an end.',
    ]);
    expect((await sentences(heads)).at(-1)).toBe(
      'Chain 1, entry 4 is missing: the heads that were kept had it as an end.',
    );
  });
});
