import { pino } from 'pino';
import { describe, expect, it } from '@jest/globals';
import { createKnownNetworks, openKnownNetworks } from '../../src/gateway/http/known-networks.js';
import type { Store } from '../../src/store/store.js';
import { until } from '../harness/until.js';
import { withTemporaryStore } from '../store/temporary-store.js';

const logger = pino({ level: 'silent' });

describe('the networks that a gateway knows', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  it('are those of proven events, after a restart as well, and those of tokens until then', async () => {
    const before = createKnownNetworks(store.networks, logger);
    before.addProven('203.0.113.7');
    before.addProven('2001:db8:1:2::9');
    before.add('198.51.100.1');
    await until('both to be stored', async () => (await store.networks.list()).length === 2);
    const after = await openKnownNetworks(store.networks, logger);
    expect(['203.0.113.7', '2001:db8:1:2::77', '198.51.100.1', '203.0.113.8'].map((one) => after.has(one))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('are stored once by each gateway, and again if the store failed', async () => {
    const added: string[] = [];
    const add = (network: string) => {
      added.push(network);
      return added.length === 1 ? Promise.reject(new Error('the disk is full')) : Promise.resolve();
    };
    const known = createKnownNetworks({ add }, logger);
    known.addProven('203.0.113.7');
    expect(known.has('203.0.113.7')).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    known.addProven('203.0.113.7');
    known.addProven('203.0.113.7');
    expect(added).toEqual(['203.0.113.7', '203.0.113.7']);
  });

  it('are none if the store cannot be read when a gateway starts: it starts all the same', async () => {
    const broken = { add: () => Promise.resolve(), list: () => Promise.reject(new Error('the disk is gone')) };
    expect((await openKnownNetworks(broken, logger)).has('203.0.113.7')).toBe(false);
  });
});
