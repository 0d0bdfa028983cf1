import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import { createServiceClient, type ServiceClient } from '../../src/client/index.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { startCardWorker } from '../../src/temporal/card-worker.js';
import { createDataConverter } from '../../src/temporal/payload-data-converter.js';
import { startWorker } from '../../src/temporal/worker.js';
import {
  gatewayUnderTest,
  keyring,
  SETTLEMENT_SECRET,
  type Answer,
  type GatewayUnderTest,
} from '../gateway/setup/gateway-under-test.js';
import { countPosts } from './count-posts.js';
import type { Sources } from './reconcile/gather.js';
import type { Witnesses } from './reconcile/witnesses.js';
import { createReconciler } from './reconcile.js';

export const SERVICE_TOKEN = 'canary-token-of-the-service';

/** Gateway, worker and sandbox as they are in production, on ports and files of their own, over the shared Temporal server. */
export interface Stack extends GatewayUnderTest {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** Everything that the workers logged. */
  readonly workerLog: string[];
  readonly sources: Sources;
  control(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
  /** I1 to I8 of everything so far. @throws Error that names every violation */
  reconcile(): Promise<Witnesses>;
  /** Reconciles once more, so that nobody can forget it, and closes everything in any case. */
  close(): Promise<void>;
}

export interface StackOptions {
  readonly sandbox?: Partial<Parameters<typeof startSandbox>[0]>;
  readonly env?: Record<string, string>;
  readonly activities?: Partial<ActivityDeps>;
  /**
   * False where others than the test post to it, whose posts nobody counts: then `close` reconciles nothing.
   * @default true
   */
  readonly isReconciled?: boolean;
  /** How long the worker waits for the service; a busy machine must not look like a lost answer. @default 8,000 */
  readonly serviceTimeoutMs?: number;
}

/** For a `describe`: a stack for its tests, reconciled after each of them. */
export function withStack(options: StackOptions, use: (stack: Stack) => void): void {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await openStack(options);
    use(stack);
  });
  afterEach(() => stack?.reconcile());
  afterAll(() => stack?.close());
}

export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-stack-'));
  const storePath = join(folder, 'store.db');
  const { serviceTimeoutMs = 8_000 } = options;
  const workerLog: string[] = [];
  const note = (detail: object, message: string) => void workerLog.push(`${message} ${JSON.stringify(detail)}`);
  const log = { info: note, warn: note, error: note, debug: note };
  const dataConverter = createDataConverter({ keyring, namespace: 'default' });
  const later: { activities?: ActivityDeps; service?: ServiceClient } = {};
  const tested = await gatewayUnderTest({
    storePath,
    ...(options.env ? { env: options.env } : {}),
    gateway: {
      service: {
        client: {
          relay: (...call) =>
            later.service?.relay(...call) ?? Promise.reject(new Error('a call came before its service')),
        },
        token: () => Promise.resolve(SERVICE_TOKEN),
      },
      serveCards: (cards) => {
        const { activities } = later;
        if (activities === undefined) throw new Error('a card came before its worker');
        const variables = tested.settings.temporal;
        return startCardWorker({ variables, namespace: 'default', dataConverter, activities, log, cards });
      },
    },
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
    timeoutMs: serviceTimeoutMs,
  });
  later.service = service;
  const activities: ActivityDeps = {
    service,
    store: tested.store,
    account: 'default',
    publicUrl: tested.url,
    serviceTimeoutMs,
    serviceIsOnLoopback: true,
    allowPlaintext: false,
    repeatSettingOf: () => 'unknown',
    newOwner: () => randomUUID(),
    monotonicMs: () => performance.now(),
    log: { info: note, warn: note },
    ...options.activities,
  };
  later.activities = activities;
  const worker = await startWorker({
    variables: tested.settings.temporal,
    namespace: 'default',
    dataConverter,
    taskQueue: tested.taskQueue,
    log,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    activities,
  });
  const counted = countPosts(tested.url, {
    post: (...call) => tested.post(...call),
    async control(method, path, body) {
      const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    },
  });
  const { client, taskQueue } = tested;
  const { started, posted, post, control } = counted;
  const sources = { client, taskQueue, sandboxUrl: sandbox.url, gatewayUrl: tested.url, storePath, started, posted };
  const reconcile = createReconciler(sources);
  return {
    ...tested,
    sandbox,
    folder,
    workerLog,
    sources,
    post,
    control,
    reconcile,
    async close() {
      try {
        if (options.isReconciled ?? true) await reconcile();
      } finally {
        await sandbox.close();
        await worker.shutdown();
        service.close();
        await tested.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
