import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createKeyring, UnknownKeyError } from '../../src/keys/index.js';
import { callbackCapability } from '../../src/flows/capability.js';
import { createCapabilities } from '../../src/gateway/inbound/capabilities.js';
import { fingerprintOf } from '../../src/store/store-key.js';
import type { Store } from '../../src/store/store.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { SEALED_TABLES } from '../../src/store/sealed-rows.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const OLD = { id: 'test', bytes: new Uint8Array(32).fill(7) };
const NEW = { id: 'new', bytes: new Uint8Array(32).fill(9) };
const both = createKeyring([NEW, OLD]);
const oldFirst = createKeyring([OLD, NEW]);
const newAlone = createKeyring([NEW]);

const key = (reference: string) => ({ account: 'a', operation: 'sendCrypto', reference });
const decided = { amount: '10' };
const attempt = (store: Store, owner = 'x') => ({
  owner,
  flowId: 'crypto-send/1',
  fingerprint: fingerprintOf(store, 'submit', decided),
});
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

const kept = { httpStatus: 200, contentType: 'application/json', body: '{}' };

/** One value in every sealed column. */
async function fill(store: Store): Promise<void> {
  const { claims, inbox, quotes } = store;
  for (const reference of ['1', '2', '3']) {
    await claims.reserve(key(reference), attempt(store));
    await claims.markSending(key(reference), 'x');
  }
  await claims.recordAnswer(key('1'), { id: 'answer-1' }, kept);
  await claims.recordRejection(key('2'), 'x', { httpStatus: 400, message: 'no' });
  await claims.closeNotExecuted(key('3'), { actor: 'ann', note: 'by hand' });
  await inbox.receive(anEvent({ id: 'kept', body: { amount: '10' } }));
  await inbox.settle([{ id: 'kept', state: 'conflicting', detail: 'two proofs' }]);
  await quotes.remember('a', quote, 0);
}

async function expectReadable({ claims, inbox, quotes }: Store): Promise<void> {
  expect(await claims.get(key('1'))).toMatchObject({ phase: 'answered', answer: { id: 'answer-1' }, kept });
  expect(await claims.get(key('2'))).toMatchObject({ phase: 'rejected', rejection: { message: 'no' } });
  expect(await claims.get(key('3'))).toMatchObject({ phase: 'void', reason: 'by hand' });
  expect(await claims.orders(key('3'))).toMatchObject([{ actor: 'ann', note: 'by hand' }]);
  expect(await inbox.get('kept')).toMatchObject({ body: { amount: '10' }, detail: 'two proofs' });
  expect(await quotes.recall('a', 'rate-1')).toMatchObject({ cryptoAmount: '1' });
}

it('SEALED_TABLES has every sealed column of the schema, so that a rotation of keys seals it again', () => {
  const steps = MIGRATIONS.flatMap((migration) => migration.steps);
  const statements = steps.flatMap((step) => (typeof step === 'string' ? step : step.postgres));
  const columns = statements.flatMap((sql) => {
    const [, table] = /^(?:CREATE|ALTER) TABLE (\w+)/.exec(sql) ?? [];
    return [...sql.matchAll(/(\w+) BYTEA/g)].map(([, column]) => `${table}.${column}`);
  });
  const known = SEALED_TABLES.flatMap(({ name, sealed }) => sealed.map((column) => `${name}.${column}`));
  expect([...known, 'meta.value'].sort()).toEqual(columns.sort());
});

describeStores('keys.reseal', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  it('leaves a store that needs the new payload key alone', async () => {
    await fill(await temporary.open());
    const store = await temporary.open({ keyring: both });
    // Eight sealed columns have a value, and the store has its own key.
    expect([...(await store.keys.usage())]).toEqual([['test', 9]]);
    const nowMs = temporary.clock.now();
    expect(await store.keys.reseal({ epoch: 1 })).toEqual({ values: 8, unreadable: 0 });
    expect([...(await store.keys.usage())]).toEqual([['new', 9]]);
    expect(await store.keys.replaced()).toEqual({ test: nowMs });
    await expectReadable(await temporary.open({ keyring: newAlone }));
    await expect(temporary.open({ keyring: createKeyring([OLD]) })).rejects.toThrow(UnknownKeyError);
  });

  it('continues where it was interrupted, and seals nothing when nothing is left', async () => {
    const before = await temporary.open();
    await fill(before);
    const store = await temporary.open({ keyring: both });
    const interruption = new Error('stopped');
    const stopped = store.keys.reseal({
      epoch: 1,
      onProgress({ values }) {
        if (values > 0) throw interruption;
      },
    });
    await expect(stopped).rejects.toBe(interruption);
    const usage = await store.keys.usage();
    expect(usage.get('test')).toBeGreaterThan(0);
    expect(usage.get('new')).toBeGreaterThan(1);
    const macs = store.macs('p', 't');

    const again = await temporary.open({ keyring: both });
    await again.keys.reseal({ epoch: 1 });
    expect([...(await again.keys.usage())]).toEqual([['new', 9]]);
    expect(again.macs('p', 't')).toEqual(macs);
    expect(await again.keys.reseal({ epoch: 1 })).toEqual({ values: 0, unreadable: 0 });
  });

  it('leaves a value that no key opens, and counts it as unreadable', async () => {
    const store = await temporary.open({ keyring: both });
    await fill(store);
    const lost = await temporary.open({ keyring: createKeyring([{ id: 'lost', bytes: new Uint8Array(32) }, NEW]) });
    await lost.inbox.receive(anEvent({ id: 'lost' }));
    expect(await store.keys.reseal({ epoch: 1 })).toEqual({ values: 0, unreadable: 1 });
    expect((await store.keys.usage()).get('lost')).toBe(1);
    expect(await store.inbox.get('lost')).toMatchObject({ unreadable: expect.any(String), body: undefined });
  });

  it('runs beside writers that still seal with the old key, and undoes none of their writes', async () => {
    const writer = await temporary.open({ keyring: oldFirst });
    await fill(writer);
    const rotating = await temporary.open({ keyring: both });
    const references = Array.from({ length: 60 }, (_, n) => `w${n}`);
    const writing = Promise.all(
      references.map(async (reference) => {
        await writer.claims.reserve(key(reference), attempt(writer));
        await writer.claims.markSending(key(reference), 'x');
        await writer.claims.noteRefusal(key(reference), 'x', { httpStatus: 400, message: 'first' });
        await writer.claims.recordAnswer(key(reference), { reference });
      }),
    );
    await Promise.all([writing, rotating.keys.reseal({ epoch: 1 })]);
    await rotating.keys.reseal({ epoch: 1 });
    const after = await temporary.open({ keyring: newAlone });
    await expectReadable(after);
    for (const reference of references) {
      expect(await after.claims.get(key(reference))).toMatchObject({ phase: 'answered', answer: { reference } });
    }
  });

  it('gives the store a new key for fingerprints, by which claims of before still compare', async () => {
    const running = await temporary.open({ keyring: oldFirst });
    await fill(running);
    const old = running.mac('p', 't');
    await (await temporary.open({ keyring: both })).keys.reseal({ epoch: 1 });

    const after = await temporary.open({ keyring: newAlone });
    expect(after.mac('p', 't')).not.toBe(old);
    expect(after.macs('p', 't')).toEqual([after.mac('p', 't'), old]);
    // Answered before; the same request again, and another one.
    expect(await after.claims.reserve(key('1'), attempt(after, 'y'))).toMatchObject({ kind: 'answered' });
    const other = { ...attempt(after), fingerprint: fingerprintOf(after, 'submit', { amount: '11' }) };
    expect(await after.claims.reserve(key('1'), other)).toEqual({ kind: 'other-fingerprint' });

    // A new claim has the new key's MAC alone. A process that runs since before reads the keys and tries again.
    await after.claims.reserve(key('new'), attempt(after));
    expect((await after.claims.get(key('new')))?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    await expect(running.claims.reserve(key('new'), attempt(running, 'z'))).rejects.toMatchObject({
      code: 'KEYS_ROTATED',
    });
    expect(await running.claims.reserve(key('new'), attempt(running, 'z'))).toMatchObject({ kind: 'reserved' });
  });

  it('leaves events of before known as duplicates, of their own flow alone', async () => {
    const hashes = (store: Store) => {
      const [contentHash = '', ...earlierHashes] = store.macs('event', 'the same');
      return { contentHash, earlierHashes };
    };
    const before = await temporary.open();
    await before.inbox.receive(anEvent({ id: 'first', ...hashes(before) }));
    const store = await temporary.open({ keyring: both });
    await store.keys.reseal({ epoch: 1 });
    expect(await store.inbox.receive(anEvent({ id: 'second', ...hashes(store) }))).toEqual({
      kind: 'duplicate',
      id: 'first',
    });
    const otherFlow = anEvent({ id: 'third', flowId: 'bridge-transfer/r2', ...hashes(store) });
    expect(await store.inbox.receive(otherFlow)).toMatchObject({ kind: 'stored' });
    expect(await store.inbox.get('first')).toMatchObject({ repeats: 1 });
  });

  it('leaves no capability by an earlier key in an epoch that begins after it: who stole that key can be shut out', async () => {
    const settings = { serviceAccount: 'a', settlementCapability: undefined, development: false } as const;
    const before = await temporary.open();
    const stolen = (epoch: number) => callbackCapability(before, 'offramp/1', epoch);
    await (await temporary.open({ keyring: both })).keys.reseal({ epoch: 1 });
    const store = await temporary.open({ keyring: newAlone });
    const accepted = (capabilityEpochs: readonly [number, ...number[]]) => {
      const gateway = createCapabilities(store, { ...settings, capabilityEpochs });
      const given = [stolen(1), stolen(2), callbackCapability(store, 'offramp/1', 2)];
      return given.map((one) => gateway.isCallback('offramp/1', one));
    };
    expect(accepted([1])).toEqual([true, false, false]);
    expect(accepted([2, 1])).toEqual([true, false, true]);
    expect(accepted([2])).toEqual([false, false, true]);
  });

  it('keeps the capabilities of flows under way, and a running gateway accepts the new ones after refresh', async () => {
    const settings = {
      serviceAccount: 'a',
      settlementCapability: undefined,
      development: false,
      capabilityEpochs: [1],
    } as const;
    const running = await temporary.open({ keyring: oldFirst });
    const gateway = createCapabilities(running, settings);
    const before = callbackCapability(running, 'offramp/1');
    await (await temporary.open({ keyring: both })).keys.reseal({ epoch: 1 });

    const worker = await temporary.open({ keyring: newAlone });
    const after = callbackCapability(worker, 'offramp/1');
    expect(after).not.toBe(before);
    expect(gateway.isCallback('offramp/1', after)).toBe(false);
    expect(await gateway.refresh()).toBe(true);
    expect([before, after].map((one) => gateway.isCallback('offramp/1', one))).toEqual([true, true]);
    expect(gateway.isCallback('offramp/2', after)).toBe(false);
    expect(await gateway.refresh()).toBe(false);
  });
});
