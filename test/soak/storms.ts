import { deepStrictEqual } from 'node:assert/strict';
import { openLimitedService, rotated, STORMED } from '../faults/storms.js';
import type { Soak } from './main.js';

const FLOWS = 60;

export default {
  name: 'storms',
  says: `faults 18 and 19: 429 over the sends and lookups of ${FLOWS} flows; a rejected token of ${FLOWS} flows`,
  async run(report) {
    const limited = await openLimitedService();
    try {
      const stormed = await limited.storm(FLOWS);
      deepStrictEqual(
        stormed,
        stormed.map(() => STORMED),
      );
      report(`429: ${FLOWS} flows, all complete, requests before the hint 0, requests too many 0`);
      deepStrictEqual(await limited.rotate(FLOWS), rotated(FLOWS));
      report(`rejected token: ${FLOWS} flows, all complete, executions 1 each, the new token was read once`);
    } finally {
      await limited.close();
    }
  },
} satisfies Soak;
