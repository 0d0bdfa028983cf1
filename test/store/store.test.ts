import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createKeyring, UnknownKeyError } from '../../src/keys/index.js';
import { StoreRequestError, StoreTooNewError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const code = (error: unknown) => (error instanceof StoreUnavailableError ? error.code : error);

describeStores('a store', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  it('keeps its key for fingerprints from one opening to the next, whichever process opens it first', async () => {
    const stores = await Promise.all([temporary.open(), temporary.open(), temporary.open(), temporary.open()]);
    const macs = stores.map((store) => store.mac('fingerprint', 'x'));
    expect(new Set(macs).size).toBe(1);
    expect(macs[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(stores[0]?.mac('event', 'x')).not.toBe(macs[0]);
    await Promise.all(stores.map((store) => store.check()));
    await Promise.all(stores.map((store) => store.close()));
    expect((await temporary.open()).mac('fingerprint', 'x')).toBe(macs[0]);
  });

  it('of a newer Towline, from which something was removed, does not open', async () => {
    await (await temporary.open()).close();
    await temporary.execute('INSERT INTO migrations (version, usable_from) VALUES (999, 999)');
    await expect(temporary.open()).rejects.toThrow(StoreTooNewError);
  });

  it('does not open without a payload key that it was made with', async () => {
    await temporary.open();
    const other = createKeyring([{ id: 'other', bytes: new Uint8Array(32) }]);
    await expect(temporary.open({ keyring: other })).rejects.toThrow(UnknownKeyError);
  });

  it('holds no body, answer, refusal, note or detail of the audit log in the clear', async () => {
    const { audit, claims, inbox } = await temporary.open();
    const canary = 'Jane-Canary-256700000001';
    const key = (reference: string) => ({ account: 'a', operation: 'o', reference });
    const attempt = { owner: 'x', flowId: 'f', fingerprint: 'f' };
    const send = async (reference: string) => {
      await claims.reserve(key(reference), attempt);
      await claims.markSending(key(reference), 'x');
    };
    const event = anEvent({ body: { name: canary } });
    await inbox.receive(event);
    await inbox.settle([{ id: event.id, state: 'conflicting', detail: canary }]);
    for (const reference of ['1', '2', '3', '4']) await send(reference);
    await claims.recordAnswer(key('1'), { name: canary });
    await claims.recordRejection(key('2'), 'x', { httpStatus: 400, message: canary });
    await claims.closeNotExecuted(key('3'), { actor: 'jane', note: canary });
    await claims.orderSendAgain(key('4'), 'y', { actor: 'jane', note: canary });
    await claims.voidUnsent(key('5'), attempt, canary);
    await audit.append({ kind: 'order', actor: 'ann', means: 'token', details: { note: canary } });
    for (const [name, bytes] of await contentOf(temporary)) {
      expect([name, bytes.includes('Canary'), bytes.includes('2567000')]).toEqual([name, false, false]);
    }
  });

  it('commits requests that share their transaction with one that is refused', async () => {
    const { inbox } = await temporary.open();
    const taken = anEvent();
    await inbox.receive(taken);
    const good = [anEvent(), anEvent(), anEvent()];
    const bad = anEvent({ id: taken.id });
    const [a, b, refused, c] = await Promise.allSettled(
      [good[0], good[1], bad, good[2]].map((e) => inbox.receive(e ?? bad)),
    );
    expect([a, b, c].map((result) => result?.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(refused).toMatchObject({ reason: expect.any(StoreRequestError) });
    for (const { id } of good) expect((await inbox.get(id))?.state).toBe('waiting');
    expect((await inbox.counts()).byState.waiting).toBe(4);
  });

  it('commits a request that shares its transaction with one whose value its column does not accept', async () => {
    const { inbox } = await temporary.open();
    const known = anEvent();
    await inbox.receive(known);
    await inbox.lease({ proven: 1, unproven: 1, perFlow: 1, leaseMs: 1_000 });
    const [bad, good] = await Promise.allSettled([inbox.defer(known.flowId ?? '', 0.5), inbox.receive(anEvent())]);
    expect(good.status).toBe('fulfilled');
    expect(bad).toMatchObject({ reason: expect.any(StoreRequestError) });
  });

  it('finishes requests from before its closing, and refuses later ones as CLOSED', async () => {
    const store = await temporary.open();
    const events = Array.from({ length: 300 }, () => anEvent());
    const received = Promise.all(events.map((event) => store.inbox.receive(event)));
    await Promise.all([store.close(), store.close()]);
    expect(await received).toHaveLength(300);
    for (const refused of [store.check(), store.inbox.receive(anEvent()), store.inbox.counts()]) {
      expect(code(await refused.catch((error: unknown) => error))).toBe('CLOSED');
    }
    expect((await (await temporary.open()).inbox.counts()).byState.waiting).toBe(300);
  });
});

/** All bytes of a store, by place. */
async function contentOf({ place, execute }: TemporaryStore): Promise<[string, string][]> {
  if (place.startsWith('postgres:')) {
    const tables = await execute(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const names = tables.map(({ name }) => String(name));
    expect(names).toContain('claim_orders');
    const texts = await Promise.all(names.map(async (name) => clearTextOf(await execute(`SELECT * FROM ${name}`))));
    return names.map((name, index) => [name, texts[index] ?? '']);
  }
  const files = await readdir(dirname(place));
  expect(files).toContain('store.db-wal');
  return Promise.all(files.map(async (name) => [name, await readFile(join(dirname(place), name), 'latin1')]));
}

function clearTextOf(rows: readonly Record<string, unknown>[]): string {
  return rows
    .flatMap((row) => Object.values(row))
    .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
    .join('\n');
}
