import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { honestSender, sendHostileBodies, warmUp, type Sender } from '../gateway/setup/hostile.js';
import { hostileGatewayEnv, startKillable, type KillableGateway } from './killable-gateway.js';

const EACH = 8;
const MOST_GROWN_MB = 50;

/** A process of its own, so that its memory is its own. */
describe('fault 41: bodies that are too much', () => {
  let gateway: KillableGateway;
  let sender: Sender;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'towline-hostile-'));
    gateway = await startKillable(hostileGatewayEnv(home));
    sender = honestSender(gateway.url);
  });
  afterAll(async () => {
    sender.close();
    await gateway.kill();
    await rm(home, { recursive: true, force: true });
  });

  it(`${EACH} of each of 17 cost at most ${MOST_GROWN_MB} MB of memory`, async () => {
    await warmUp(gateway.url, sender);
    const before = await gateway.measure();
    const { wrong, honest } = await sendHostileBodies(gateway.url, sender, EACH);
    const after = await gateway.measure();
    expect(wrong).toEqual([]);
    expect(new Set(honest)).toEqual(new Set([200]));
    expect(after.peakMb - before.peakMb).toBeLessThanOrEqual(MOST_GROWN_MB);
  });
});
