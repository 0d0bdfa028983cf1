import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import { SEALED_TABLES } from '../../src/store/sealed-rows.js';
import { describeStores } from './store-kinds.js';
import { anEvent, keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const OLD = keyring.active;
const NEW = { id: 'new', bytes: new Uint8Array(32).fill(9) };
const both = createKeyring([NEW, OLD]);
const quote = {
  rateId: 'rate-1',
  lifeMs: 60_000,
  cryptoAmount: '1',
  cryptoUnit: 'USDT',
  sourceAmount: '10',
  sourceCurrency: 'KES',
  chain: 'TRON',
  token: 'USDT',
};

it('a sealed value is bound to the table, row and column that it had in every released version', () => {
  const row: Readonly<Record<string, string | number>> = {
    seq: 1,
    account: 'a',
    operation: 'o',
    reference: 'r',
    id: 'i',
    rate_id: 'q',
    flow_id: 'f',
    topic: 't',
    subject: 's',
    action: 'c',
    choice: '{}',
    proposed_by: 'p',
    chain: 2,
    number: 3,
  };
  const places = SEALED_TABLES.flatMap((table) => {
    // What a rotation reads of it suffices.
    const read = Object.fromEntries([...table.key, ...table.boundTo].map((column) => [column, row[column] ?? null]));
    return table.sealed.map((column) => [table.name, table.place(read, column)]);
  });
  expect(places).toEqual([
    ...['answer', 'rejection', 'kept', 'reason'].map((column) => ['claims', ['claims', 'a', 'o', 'r', column]]),
    ['claim_orders', ['claims', 'a', 'o', 'r', 'note']],
    ['inbox', ['inbox', 'i', 'body']],
    ['inbox', ['inbox', 'i', 'detail']],
    ['quotes', ['quotes', 'a', 'q', 'terms']],
    ['matters', ['matters', 'i', 'content']],
    ['proposals', ['proposals', 'f', 't', 'i', 's', 'c', '{}', 'p', 'note']],
    ['audit', ['audit', '2', '3']],
  ]);
});

describeStores('the keys of a store', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  const damaged = (count: number) =>
    temporary.execute(`INSERT INTO quotes (account, rate_id, quoted_at, terms)
      WITH RECURSIVE more(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM more WHERE number < ${count})
      SELECT 'account-' || number % 3, 'rate-' || number, 0, ${kind === 'postgres' ? `'\\x00'::bytea` : `X'00'`} FROM more`);

  it('usage counts each sealed value of each table once, however many there are, and damaged ones apart', async () => {
    const store = await temporary.open();
    // Before the others, which it would delete as too old.
    await store.quotes.remember('a', quote, 0);
    await damaged(2_001);
    const rotating = await temporary.open({ keyring: both });
    await rotating.inbox.receive(anEvent());
    expect(Object.fromEntries(await rotating.keys.usage())).toEqual({ test: 2, new: 1, '?': 2_001 });
  });

  it('reseal tries each value once, and calls onProgress after each page', async () => {
    const store = await temporary.open();
    await damaged(1_001);
    const rotating = await temporary.open({ keyring: both });
    await store.claims.reserve(
      { account: 'a', operation: 'o', reference: 'r' },
      { owner: 'x', flowId: 'f', fingerprint: 'f' },
    );
    await store.claims.voidUnsent(
      { account: 'a', operation: 'o', reference: 'r' },
      { flowId: 'f', fingerprint: 'f' },
      'x',
    );
    const seen: [number, number][] = [];
    const onProgress = (done: { readonly values: number; readonly unreadable: number }) =>
      void seen.push([done.values, done.unreadable]);
    expect(await rotating.keys.reseal({ epoch: 1, onProgress })).toEqual({ values: 1, unreadable: 1_001 });
    const pass = (first: number) => [
      [first, 0],
      [1, 0],
      [1, 0],
      [1, 1_000],
      ...Array.from({ length: 4 }, () => [1, 1_001]),
    ];
    // Once more, for what another process sealed meanwhile: nothing.
    expect(seen).toEqual([...pass(1), ...pass(1)]);
  });

  it('reseal seals matters, proposals and entries of the audit log, too', async () => {
    const store = await temporary.open();
    await store.matters.open('parked/onramp/a/x', { kind: 'parked', flowId: 'onramp/a', since: 'x' });
    const proposed = { flowId: 'onramp/a', topic: 'decision', id: 'p', subject: 's', action: 'cancel', by: 'ann' };
    await store.proposals.propose({ ...proposed, choice: { a: 'b' }, note: 'she called' }, 60_000);
    await store.audit.append({ kind: 'order', actor: 'ann', means: 'token', details: { note: 'she called' } });
    const rotating = await temporary.open({ keyring: both });
    // The proposal has a matter, too.
    expect(await rotating.keys.reseal({ epoch: 1 })).toEqual({ values: 5, unreadable: 0 });
    const after = await temporary.open({ keyring: createKeyring([NEW]) });
    const matter = (await after.matters.due(9)).matters.find(({ content }) => content.kind === 'parked');
    expect(matter?.content).toEqual({ kind: 'parked', flowId: 'onramp/a', since: 'x' });
    expect(await after.proposals.get(proposed)).toMatchObject({ note: 'she called', choice: { a: 'b' } });
    expect((await after.audit.list({ limit: 1 }))[0]?.details).toMatchObject({ note: 'she called' });
    expect((await after.audit.verify()).problems).toEqual([]);
  });

  it('replaced has when a key was last found in use, and only keys of the keyring', async () => {
    const writer = await temporary.open({ keyring: createKeyring([OLD, NEW]) });
    const rotating = await temporary.open({ keyring: both });
    await rotating.keys.reseal({ epoch: 1 });
    const lost = createKeyring([{ id: 'lost', bytes: new Uint8Array(32) }, NEW]);
    await (await temporary.open({ keyring: lost })).inbox.receive(anEvent({ id: 'of a lost key' }));
    temporary.clock.advance(5_000);
    const foundMs = temporary.clock.now();
    await writer.inbox.receive(anEvent({ id: 'late' }));
    let pages = 0;
    const interrupted = rotating.keys.reseal({
      epoch: 1,
      onProgress({ values }) {
        pages += 1;
        // The time goes on: tables after it have no row of that key.
        temporary.clock.advance(1_000);
        if (pages === 5) throw new Error(`stopped ${values}`);
      },
    });
    await expect(interrupted).rejects.toThrow(/1$/);
    expect(await writer.keys.replaced()).toEqual({ test: foundMs + 2_000 });
  });
});
