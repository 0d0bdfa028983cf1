import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceClient } from '../../src/client/index.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { createDataConverter } from '../../src/temporal/payload-data-converter.js';
import { startWorker } from '../../src/temporal/worker.js';
import {
  gatewayUnderTest,
  keyring,
  SETTLEMENT_SECRET,
  type Answer,
  type GatewayUnderTest,
} from '../gateway/setup/gateway-under-test.js';

export const SERVICE_TOKEN = 'canary-token-of-the-service';

/** Gateway, worker and sandbox as they are in production, on ports and files of their own, over the shared Temporal server. */
export interface Stack extends GatewayUnderTest {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** Everything that the worker logged. */
  readonly workerLog: string[];
  control(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
}

export async function openStack(
  options: { sandbox?: Partial<Parameters<typeof startSandbox>[0]>; env?: Record<string, string> } = {},
): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-stack-'));
  const tested = await gatewayUnderTest({
    storePath: join(folder, 'store.db'),
    ...(options.env ? { env: options.env } : {}),
  });
  const sandbox = await startSandbox({
    dbPath: join(folder, 'sandbox.db'),
    token: SERVICE_TOKEN,
    stepMs: 50,
    settlementUrl: `${tested.url}/api/v3/deposit/crypto-bridge/webhook/provider/settlement`,
    settlementSecret: SETTLEMENT_SECRET,
    ...options.sandbox,
  });
  const service = createServiceClient({
    baseUrl: sandbox.url,
    token: () => Promise.resolve(SERVICE_TOKEN),
    timeoutMs: 2_000,
  });
  const workerLog: string[] = [];
  const note = (detail: object, message: string) => void workerLog.push(`${message} ${JSON.stringify(detail)}`);
  const worker = await startWorker({
    variables: tested.settings.temporal,
    namespace: 'default',
    dataConverter: createDataConverter({ keyring, namespace: 'default' }),
    taskQueue: tested.taskQueue,
    log: { info: note, warn: note, error: note, debug: note },
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    activities: {
      service,
      store: tested.store,
      account: 'default',
      publicUrl: tested.url,
      serviceTimeoutMs: 2_000,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      repeatSettingOf: () => 'unknown',
      newOwner: () => randomUUID(),
      monotonicMs: () => performance.now(),
      log: { info: note, warn: note },
    },
  });
  return {
    ...tested,
    sandbox,
    folder,
    workerLog,
    async control(method, path, body) {
      const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    },
    async close() {
      await sandbox.close();
      await worker.shutdown();
      service.close();
      await tested.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
