import { deepStrictEqual } from 'node:assert/strict';
import { expectedApplied, expectedAtTheKill, GATEWAY_POINTS, killGateways } from '../crash-matrix/killed-gateways.js';
import { openRig } from '../crash-matrix/rig.js';
import type { Soak } from './main.js';

const WEBHOOKS = 20;
const ROUNDS = 10;

export default {
  name: 'killed-gateways',
  says: `fault 35: ${ROUNDS} gateways killed (SIGKILL) at each of four points, with ${WEBHOOKS} webhooks under way`,
  async run(report) {
    const rig = await openRig({ gateway: false, sandbox: { stepMs: 3_600_000 } });
    try {
      const killed = await killGateways(rig, WEBHOOKS, ROUNDS);
      const points = Array.from({ length: ROUNDS }, () => GATEWAY_POINTS).flat();
      deepStrictEqual(
        killed.atTheKills,
        points.map((point) => expectedAtTheKill(point, WEBHOOKS)),
      );
      for (const point of GATEWAY_POINTS) {
        const applied = await killed.applied(point);
        deepStrictEqual(applied, Array.from({ length: ROUNDS }, () => expectedApplied(WEBHOOKS)).flat());
        report(`${point}: ${applied.length} webhooks, one row each, applied once each`);
      }
    } finally {
      await rig.close();
    }
  },
} satisfies Soak;
