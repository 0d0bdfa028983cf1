import { setTimeout as sleep } from 'node:timers/promises';
import { connectTemporal } from '../../src/temporal/connection.js';
import { startCardWorker, startWorker } from '../../src/temporal/worker.js';
import { NAMESPACE } from './fixed.js';
import type { TestTemporal, TestTemporalOptions } from './temporal.js';

/** The test run's Temporal server, or another, with the SDK's client and workers. */
export function openRealTemporal(options: TestTemporalOptions): TestTemporal {
  const { dataConverter, taskQueue, log, address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '' } = options;
  const identity = options.identity === undefined ? {} : { identity: options.identity };
  const variables = { TEMPORAL_ADDRESS: address };
  const works = { variables, namespace: NAMESPACE, dataConverter, log, ...identity };
  const temporal = connectTemporal({ variables, dataConverter, ...identity });
  return {
    client: temporal.client,
    address,
    nowMs: Date.now,
    pass: (ms) => sleep(ms),
    worker: (activities, share) =>
      startWorker({ ...works, bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '', ...share, activities, taskQueue }),
    cardWorker: (activities, cards) => startCardWorker({ ...works, activities, cards }),
    close: () => temporal.close(),
  };
}
