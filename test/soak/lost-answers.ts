import { deepStrictEqual } from 'node:assert/strict';
import {
  depositsUnder,
  ERROR_AFTER,
  LOST,
  PAID_ONCE,
  REPEAT_MODES,
  UNREADABLE,
  type Fault,
} from '../faults/lost-answers.js';
import type { Soak } from './main.js';
import { openStack } from '../harness/stack.js';

export default {
  name: 'lost-answers',
  says: 'faults 1, 5, 6 and 8: 200 lost answers, 50 times 5xx, 60 unreadable ones, 80 repeats',
  async run(report) {
    const bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000 }, timeoutMs: 30_000 });
    const cells: readonly { fault: Fault; n: number; repeatMode?: (typeof REPEAT_MODES)[number] }[] = [
      { fault: LOST, n: 200 },
      { fault: ERROR_AFTER, n: 50 },
      ...UNREADABLE.map((fault) => ({ fault, n: 10 })),
      ...REPEAT_MODES.map((repeatMode) => ({ fault: LOST, n: 20, repeatMode })),
    ];
    try {
      for (const { fault, n, repeatMode } of cells) {
        const ends = await depositsUnder(bench, fault, n, repeatMode);
        deepStrictEqual(
          ends,
          ends.map(() => PAID_ONCE),
        );
        const what = [...Object.values(fault), ...(repeatMode === undefined ? [] : [repeatMode])].join(' ');
        report(`${what}: ${ends.length} flows, executions 1 each, false failures 0`);
      }
    } finally {
      await bench.close();
    }
  },
} satisfies Soak;
