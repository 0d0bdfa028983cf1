import { deepStrictEqual } from 'node:assert/strict';
import { KILL_POINTS, killWorkers } from '../crash-matrix/kill-points.js';
import { openRig } from '../crash-matrix/rig.js';
import type { Soak } from './main.js';

const FLOWS = 25;
const ROUNDS = 5;

export default {
  name: 'killed-workers',
  says: `${ROUNDS} times two workers killed (SIGKILL) with ${FLOWS} flows at each of ${KILL_POINTS.length} points`,
  async run(report) {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const rig = await openRig();
      try {
        const after = await killWorkers(rig, FLOWS, 2);
        for (const point of KILL_POINTS) {
          const ends = await after(point);
          deepStrictEqual(
            ends,
            Array.from({ length: FLOWS }, () => point.expected),
          );
        }
        report(`round ${round}: ${FLOWS * KILL_POINTS.length} flows, executions 1 each, false failures 0`);
      } finally {
        await rig.close();
      }
    }
  },
} satisfies Soak;
