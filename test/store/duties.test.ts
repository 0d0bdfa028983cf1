import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createDuty } from '../../src/store/duties.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describeStores('a duty', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  const gateway = async () => createDuty((await temporary.open()).duties, 'settling', 12_000, temporary.clock.now);

  it('belongs to one of several gateways, and to another one once its time has passed without its holder', async () => {
    const gateways = await Promise.all([gateway(), gateway(), gateway()]);
    const ours = await Promise.all(gateways.map((one) => one.isOurs()));
    expect(ours.filter(Boolean)).toHaveLength(1);
    const dead = ours.indexOf(true);
    const others = gateways.filter((_, index) => index !== dead);
    temporary.clock.advance(11_999);
    expect(await Promise.all(others.map((one) => one.isOurs()))).toEqual([false, false]);
    temporary.clock.advance(4_000);
    expect((await Promise.all(others.map((one) => one.isOurs()))).filter(Boolean)).toHaveLength(1);
    temporary.clock.advance(4_000);
    expect(await gateways[dead]?.isOurs()).toBe(false);
  });

  it('stays with a gateway that continues, and passes to another one at once when that one leaves', async () => {
    const [first, second] = [await gateway(), await gateway()];
    for (let n = 0; n < 10; n += 1) {
      expect([await first.isOurs(), await second.isOurs()]).toEqual([true, false]);
      temporary.clock.advance(4_000);
    }
    await second.leave();
    expect(await first.isOurs()).toBe(true);
    await first.leave();
    temporary.clock.advance(4_000);
    expect([await second.isOurs(), await first.isOurs()]).toEqual([true, false]);
  });

  it('is free for another gateway when its holder leaves, and not for that one until a third of its time is over', async () => {
    const [first, second] = [await gateway(), await gateway()];
    expect(await first.isOurs()).toBe(true);
    await first.leave();
    expect(await first.isOurs()).toBe(false);
    expect(await second.isOurs()).toBe(true);
    temporary.clock.advance(4_000);
    // A third of its time is over: each asks the store again.
    await second.leave();
    expect(await first.isOurs()).toBe(true);
  });

  it("has the result of its holder for all processes, and no other one's", async () => {
    const [holder, other] = [(await temporary.open()).duties, (await temporary.open()).duties];
    expect(await other.result('counting')).toBeUndefined();
    expect(await holder.take('counting', 1_000)).toBe(true);
    expect(await other.result('counting')).toBeUndefined();
    await other.finish('counting', 'of another');
    await other.leave('counting');
    expect(await other.take('counting', 1_000)).toBe(false);
    await holder.finish('counting', 'three');
    expect(await other.result('counting')).toBe('three');
    expect(await other.result('sending')).toBeUndefined();
    expect(await other.take('counting', 1_000)).toBe(true);
    await holder.finish('counting', 'too late');
    expect(await holder.result('counting')).toBe('three');
    temporary.clock.advance(999);
    expect(await holder.take('counting', 1_000)).toBe(false);
    temporary.clock.advance(1);
    expect(await holder.take('counting', 1_000)).toBe(true);
  });
});
