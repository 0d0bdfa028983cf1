import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataConverter } from '../../../src/temporal/payload-codec.js';
import { startWorker } from '../../../src/temporal/worker.js';
import type { GatewayUnderTest } from './gateway-under-test.js';
import { keyring } from '../../harness/fixed.js';
import { type Control, openService } from '../../harness/service.js';

const TOKEN = 'token-of-the-sandbox';
/** Nothing listens there: the service's own callbacks do not arrive, so that the test's are the only events. */
const NO_GATEWAY = 'http://127.0.0.1:9';

export interface FlowWorker extends Control {
  stop(): Promise<void>;
}

/**
 * Runs the real flows of a gateway, against their own sandbox. Their deposits are made; all events come from the test.
 */
export async function startFlowWorker(
  tested: Pick<GatewayUnderTest, 'store' | 'taskQueue' | 'namespace'>,
): Promise<FlowWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-flows-'));
  // Long, so that a busy machine adds no lost answer.
  const serviceTimeoutMs = 8_000;
  const opened = await openService({
    sandbox: { dbPath: join(folder, 'sandbox.db'), token: TOKEN, stepMs: 20 },
    timeoutMs: serviceTimeoutMs,
  });
  const silent = { info() {}, warn() {}, error() {}, debug() {} };
  const worker = await startWorker({
    variables: { TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' },
    namespace: tested.namespace,
    dataConverter: createDataConverter({ keyring, namespace: tested.namespace }),
    taskQueue: tested.taskQueue,
    log: silent,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    activities: {
      service: opened.service,
      store: tested.store,
      account: 'default',
      publicUrl: NO_GATEWAY,
      serviceTimeoutMs,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      repeatSettingOf: () => 'unknown',
      newOwner: () => randomUUID(),
      monotonicMs: () => performance.now(),
      log: silent,
    },
  });
  return {
    ...opened,
    async stop() {
      await worker.shutdown();
      await opened.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
