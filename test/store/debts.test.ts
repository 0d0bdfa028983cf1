import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Store } from '../../src/store/store.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const HASH = 'ab'.repeat(32);
const debt = (reference: string, operation = 'sendCrypto') => ({ account: 'a', operation, reference });

describeStores('a payment hash in the store', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const reserve = (reference: string) =>
    store.claims.reserve(debt(reference), { owner: 'o', flowId: `crypto-send/${reference}`, fingerprint: 'f' });

  it('is for one debt, which may take it again: not for another reference, operation or account', async () => {
    expect(await store.debts.take(HASH, debt('r1'))).toBe(true);
    expect(await store.debts.take(HASH, debt('r1'))).toBe(true);
    for (const other of [debt('r2'), debt('r1', 'createBridgeDeposit'), { ...debt('r1'), account: 'b' }]) {
      expect(await store.debts.take(HASH, other)).toBe(false);
    }
    expect(await store.debts.take(HASH, debt('r1'))).toBe(true);
    expect(await store.debts.take('cd'.repeat(32), debt('r1'))).toBe(true);
  });

  it('is for one of several debts that take it at once by several processes, and for that one ever after', async () => {
    const others = await Promise.all([temporary.open(), temporary.open()]);
    const stores = [store, ...others];
    const takeAll = () => Promise.all(stores.map(({ debts }, n) => debts.take(HASH, debt(`r${n}`))));
    const taken = await takeAll();
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await takeAll()).toEqual(taken);
  });

  it('of an invoice that the service pays is refused while another invoice of its debt is payable', async () => {
    const [later, other] = [Date.now() + 60_000, 'cd'.repeat(32)];
    expect(await store.debts.takePayable(HASH, debt('r1'), later, [])).toEqual({ kind: 'taken' });
    expect(await store.debts.takePayable(other, debt('r1'), later, [])).toEqual({ kind: 'blocked', untilMs: later });
    expect(await store.debts.takePayable(HASH, debt('r1'), later, [])).toEqual({ kind: 'taken' });
    expect(await store.debts.takePayable(other, debt('r1'), later, [HASH])).toEqual({ kind: 'taken' });
    expect(await store.debts.takePayable(other, debt('r2'), later, [])).toEqual({ kind: 'other-debt' });
    expect(await store.debts.takePayable('ef'.repeat(32), debt('r3'), 1, [])).toEqual({ kind: 'taken' });
    expect(await store.debts.takePayable('01'.repeat(32), debt('r3'), later, [])).toEqual({ kind: 'taken' });
  });

  it.each(['reserved', 'sending', 'answered'] as const)('is for no other debt while its claim is %s', async (phase) => {
    await store.debts.take(HASH, debt('r1'));
    await reserve('r1');
    if (phase !== 'reserved') await store.claims.markSending(debt('r1'), 'o');
    if (phase === 'answered') await store.claims.recordAnswer(debt('r1'), {});
    expect((await store.claims.get(debt('r1')))?.phase).toBe(phase);
    expect(await store.debts.take(HASH, debt('r2'))).toBe(false);
  });

  it.each(['void', 'rejected'] as const)(
    'is free again once its claim is %s, and then for one other',
    async (phase) => {
      await store.debts.take(HASH, debt('r1'));
      await reserve('r1');
      if (phase === 'void') {
        const unsent = { flowId: 'crypto-send/r1', fingerprint: 'f' };
        await store.claims.voidUnsent(debt('r1'), unsent, 'cancelled');
      } else {
        await store.claims.markSending(debt('r1'), 'o');
        await store.claims.recordRejection(debt('r1'), 'o', { httpStatus: 400, message: 'no' });
      }
      expect((await store.claims.get(debt('r1')))?.phase).toBe(phase);
      expect(await store.debts.take(HASH, debt('r2'))).toBe(true);
      expect(await store.debts.take(HASH, debt('r3'))).toBe(false);
      expect(await store.debts.take(HASH, debt('r1'))).toBe(false);
    },
  );
});
