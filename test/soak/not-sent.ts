import { deepStrictEqual } from 'node:assert/strict';
import { NOT_CONNECTED, openBrokenWays, SENT_BY_ORDER, SENT_ONCE } from '../faults/not-sent.js';
import type { Soak } from './main.js';

export default {
  name: 'not-sent',
  says: 'faults 2 and 3: 30 deposits refused, 30 without DNS, 30 without TLS, 20 sent by half',
  async run(report) {
    const ways = await openBrokenWays();
    try {
      for (const way of NOT_CONNECTED) {
        const ends = await ways.notConnected(way, 30);
        deepStrictEqual(
          ends,
          ends.map(() => SENT_ONCE),
        );
        report(`${way}: ${ends.length} flows, all complete, parked 0, executions 1 each`);
      }
      const ends = await ways.halfSent(20);
      deepStrictEqual(
        ends,
        ends.map(() => SENT_BY_ORDER),
      );
      report(`sent by half: ${ends.length} flows, executions 0 before a person ordered another send, 1 after it`);
    } finally {
      await ways.close();
    }
  },
} satisfies Soak;
