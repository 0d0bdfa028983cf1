import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const quote = {
  rateId: 'rate-1',
  lifeMs: 60_000,
  cryptoAmount: '12.50',
  cryptoUnit: 'USDC',
  sourceAmount: '250.5',
  sourceCurrency: 'ZAR',
  chain: 'CELO',
  token: 'USDC',
};
const DAY_MS = 86_400_000;

describeStores('a remembered quote', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  it('has the same age for each process, and keeps its terms when its id comes again', async () => {
    const [seen, asked] = [(await temporary.open()).quotes, (await temporary.open()).quotes];
    await seen.remember('a', quote, 250);
    temporary.clock.advance(5_000);
    expect(await asked.recall('a', 'rate-1')).toEqual({ ...quote, ageMs: 5_250 });
    await asked.remember('a', { ...quote, lifeMs: 1 }, 0);
    expect(await seen.recall('a', 'rate-1')).toEqual({ ...quote, ageMs: 5_250 });
  });

  it('may have an id of any length', async () => {
    const { quotes } = await temporary.open();
    const rateId = randomBytes(20_000).toString('base64');
    await Promise.all([quotes.remember('a', { ...quote, rateId }, 0), quotes.remember('a', quote, 0)]);
    expect(await quotes.recall('a', rateId)).toEqual({ ...quote, rateId, ageMs: 0 });
    expect(await quotes.recall('a', 'rate-1')).toEqual({ ...quote, ageMs: 0 });
    expect(await quotes.recall('a', rateId.slice(1))).toBeUndefined();
  });

  it('belongs to its account, and is deleted after a day', async () => {
    const { quotes } = await temporary.open();
    await quotes.remember('a', quote, 0);
    expect(await quotes.recall('b', 'rate-1')).toBeUndefined();
    temporary.clock.advance(DAY_MS + 1);
    await quotes.remember('a', { ...quote, rateId: 'rate-2' }, 0);
    expect(await quotes.recall('a', 'rate-1')).toBeUndefined();
  });
});
