import { deepStrictEqual } from 'node:assert/strict';
import { earlyEvents } from '../gateway/setup/early-events.js';
import { startFlowWorker, type FlowWorker } from '../gateway/setup/flow-worker.js';
import { gatewayUnderTest } from '../gateway/setup/gateway-under-test.js';
import type { Soak } from './main.js';

const [FLOWS, EVENTS] = [10, 500];

export default {
  name: 'early-events',
  says: `fault 28: ${EVENTS} events of ${FLOWS} flows before any worker runs`,
  async run(report) {
    const tested = await gatewayUnderTest();
    let worker: FlowWorker | undefined;
    try {
      const startWorker = async () => (worker = await startFlowWorker(tested));
      const { events, applied, signals } = await earlyEvents(tested, { flows: FLOWS, startWorker });
      deepStrictEqual([events, applied], [EVENTS, FLOWS]);
      report(`${events} events, each in one signal: ${signals} signals; lost 0`);
    } finally {
      await tested.close();
      await worker?.stop();
    }
  },
} satisfies Soak;
