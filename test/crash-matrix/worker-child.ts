/*
 * A worker in a separate process, which a test may kill, stop or shut down: the real one, plus the crash points. `node
 * --import ./tools/typescript.mjs test/crash-matrix/worker-child.ts CONFIG`, with an IPC channel to the test.
 */
import { randomUUID } from 'node:crypto';
import type { Repeat } from '../../src/protocol/decisions.js';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { systemClock } from '../../src/clock.js';
import { createServiceClient } from '../../src/service-client/index.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { startWorker } from '../../src/temporal/worker.js';
import { config as given, onOrders, say } from './child.js';
import { createCrashPoints, type Hold } from './crash-points.js';
import { ACCOUNT, CALLBACK_SECRET, keyring, NAMESPACE, SERVICE_TOKEN } from './fixed.js';
import { openAt } from '../store/temporary-store.js';

export interface WorkerConfig {
  readonly temporalAddress: string;
  readonly taskQueue: string;
  /** Path of a file, or URL of a database. */
  readonly storePath: string;
  readonly serviceUrl: string;
  readonly publicUrl: string;
  readonly serviceTimeoutMs: number;
  readonly bundlePath: string;
  readonly holds: readonly Hold[];
  readonly clocksStand?: boolean;
  /** Its `DUPLICATE_REFERENCE`. @default unknown */
  readonly repeat?: Repeat;
}

/** Long enough for a busy machine, since a worker beats four times in it. */
const HEARTBEAT_MS = 2_000;

const config = given() as WorkerConfig;
const crashPoints = createCrashPoints(config.holds, say);
const store = await openAt(config.storePath, { keyring });
const service = createServiceClient({
  baseUrl: config.serviceUrl,
  token: () => Promise.resolve(SERVICE_TOKEN),
  timeoutMs: config.serviceTimeoutMs,
});
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const worker = await startWorker({
  variables: { TEMPORAL_ADDRESS: config.temporalAddress },
  namespace: NAMESPACE,
  dataConverter: createDataConverter({ keyring, namespace: NAMESPACE }),
  activities: {
    service: crashPoints.service(service),
    store: crashPoints.store(store),
    account: ACCOUNT,
    publicUrl: config.publicUrl,
    serviceTimeoutMs: config.serviceTimeoutMs,
    serviceIsOnLoopback: true,
    allowPlaintext: false,
    repeatSettingOf: () => config.repeat ?? 'unknown',
    newOwner: () => randomUUID(),
    monotonicMs: config.clocksStand === true ? () => 0 : () => performance.now(),
    ...(config.clocksStand === true ? { clock: { ...systemClock, nowMs: () => 0 } } : {}),
    log: quiet,
    limits: { heartbeatMs: HEARTBEAT_MS },
    callbacks: createCallbackSender({ secrets: () => [CALLBACK_SECRET], allowLoopback: true }),
  },
  log: quiet,
  bundlePath: config.bundlePath,
  taskQueue: config.taskQueue,
});

onOrders({
  release: () => crashPoints.release(),
  async shutdown() {
    await worker.shutdown();
    await store.close();
    service.close();
  },
});
say({ kind: 'ready' });
