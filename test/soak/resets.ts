import { deepStrictEqual } from 'node:assert/strict';
import { resetEnd, resetFlows } from '../faults/resets.js';
import type { Soak } from './main.js';
import { openStack } from '../harness/stack.js';

const FLOWS = 20;
const RESETS_EACH = 5;

export default {
  name: 'resets',
  says: `${FLOWS * RESETS_EACH} resets to before the POST, of ${FLOWS} flows`,
  async run(report) {
    const bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000, repeatMode: 'execute-again' } });
    try {
      const ends = await resetFlows(bench, FLOWS, RESETS_EACH);
      deepStrictEqual(
        ends,
        ends.map(() => resetEnd(RESETS_EACH)),
      );
      report(`${FLOWS * RESETS_EACH} resets: all flows complete, executions 1 each`);
    } finally {
      await bench.close();
    }
  },
} satisfies Soak;
