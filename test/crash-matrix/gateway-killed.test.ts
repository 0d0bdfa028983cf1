import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectedApplied,
  expectedAtTheKill,
  GATEWAY_POINTS,
  killGateways,
  type KilledGateways,
} from './killed-gateways.js';
import { openRig, type Rig } from './rig.js';

/** One webhook that ends its flow, and one that does not. */
const N = 2;

describe('fault 35: a gateway that is killed (SIGKILL) with webhooks under way', () => {
  let rig: Rig;
  let killed: KilledGateways;
  beforeAll(async () => {
    rig = await openRig({ gateway: false, sandbox: { stepMs: 3_600_000 } });
    killed = await killGateways(rig, N);
  });
  afterAll(() => rig.close());

  it('died at each of the four points', () => {
    expect(killed.atTheKills).toEqual(GATEWAY_POINTS.map((point) => expectedAtTheKill(point, N)));
  });

  it.each(GATEWAY_POINTS)(
    '%s: each webhook is taken in the end, is one row, and is applied to its flow once',
    async (point) => {
      expect(await killed.applied(point)).toEqual(expectedApplied(N));
    },
  );
});
