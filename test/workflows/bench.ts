import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityDeps } from '../../activities/index.js';
import { createServiceClient } from '../../src/client/index.js';
import type { FlowEvent, FlowReport } from '../../src/flows/messages.js';
import { flowIdOf, STATE_ATTRIBUTE, workflowTypeOf, type FlowKind } from '../../src/flows/vocabulary.js';
import { createKeyring } from '../../src/keys/index.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { openStore } from '../../src/store/open-store.js';
import type { Store } from '../../src/store/store.js';
import { createRetries } from '../../src/temporal/connection-retries.js';
import { createDataConverter } from '../../src/temporal/payload-data-converter.js';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { startWorker, type RunningWorker } from '../../src/temporal/worker.js';
import { until as eventually } from '../gateway/setup/until.js';

export interface BenchOptions {
  /** `skipping`: Temporal's time-skipping server, where this machine has it; else the dev server with scaled waits. */
  readonly time: 'real' | 'skipping';
  readonly sandbox?: Partial<Parameters<typeof startSandbox>[0]>;
  readonly deps?: Partial<ActivityDeps>;
  /** Of a call to the service; long, so that a busy machine adds no fault of its own. @default 8,000 */
  readonly timeoutMs?: number;
}

/** One worker with store and sandbox of its own, on the shared Temporal server. Events are signalled by the test. */
export interface Bench {
  readonly client: Client;
  readonly store: Store;
  readonly sandbox: Sandbox;
  readonly deps: ActivityDeps;
  readonly address: string;
  readonly dataConverter: DataConverter;
  /** Where its store and its sandbox keep their files. */
  readonly folder: string;
  readonly timeScale: number;
  control(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
  executions(operation: string, reference: string): Promise<number>;
  /** Moves the sandbox's transaction by hand, as soon as its own steps have brought it to where that is possible. */
  move(reference: string, status: string, operation?: string): Promise<void>;
  start(input: Record<string, unknown>, id?: string): Promise<WorkflowHandle>;
  /** Starts a flow of any kind under its own id. */
  startFlow(kind: FlowKind, reference: string, input: Record<string, unknown>): Promise<WorkflowHandle>;
  worker(deps?: Partial<ActivityDeps>): Promise<RunningWorker>;
  /** Lets so much of the flows' time pass: at once where time can be skipped, else scaled. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A JSON answer of the sandbox, read by tests that compare it with what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = Record<string, any>;

/** `BENCH_LOG=1` shows what the worker logs. */
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const log = process.env['BENCH_LOG']
  ? { info: console.log, warn: console.log, error: console.log, debug: console.log }
  : quiet;

/** A step of the sandbox takes 20 ms, and this machine may stand still. */
const MOVABLE_WITHIN_MS = 10_000;

export const ACCOUNT = 'bench';
export const TOKEN = 'canary-service-token';

export async function openBench(options: BenchOptions): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-bench-'));
  // Before anything of the SDK's core runs: the runtime is one per process.
  installRuntime(log);
  const keyring = createKeyring([{ id: 'test', bytes: randomBytes(32) }]);
  const dataConverter = createDataConverter({ keyring, namespace: 'default' });
  const skippingServer = options.time === 'skipping' ? process.env['TEST_TIME_SKIPPING_SERVER'] : '';
  const skipping = skippingServer ? await startSkipping(skippingServer, dataConverter) : undefined;
  const address = skipping?.address ?? process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  // A retry that fires after the connection was closed would fail the next suite of this process.
  const retries = createRetries();
  const connection =
    skipping?.connection ?? (await Connection.connect({ address, interceptors: retries.interceptors }));
  if (skipping) {
    // It cannot list them.
    const { INDEXED_VALUE_TYPE_KEYWORD: keyword } = proto.temporal.api.enums.v1.IndexedValueType;
    const searchAttributes = { [STATE_ATTRIBUTE]: keyword };
    await skipping.connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
  } else await ensureSearchAttributes(connection, 'default', { [STATE_ATTRIBUTE]: 'Keyword' });
  const client = skipping?.client ?? new Client({ connection, dataConverter });
  const store = await openStore({ path: join(folder, 'store.db'), keyring });
  const sandbox = await startSandbox({ dbPath: join(folder, 'sandbox.db'), token: TOKEN, ...options.sandbox });
  const service = createServiceClient({
    baseUrl: sandbox.url,
    token: () => Promise.resolve(TOKEN),
    timeoutMs: options.timeoutMs ?? 8_000,
  });
  const deps: ActivityDeps = {
    service,
    store,
    account: ACCOUNT,
    publicUrl: 'http://127.0.0.1:9',
    serviceTimeoutMs: 2_000,
    serviceIsOnLoopback: true,
    allowPlaintext: false,
    repeatSettingOf: () => 'unknown',
    newOwner: () => randomUUID(),
    monotonicMs: () => performance.now(),
    log: { info() {}, warn() {} },
    ...options.deps,
  };
  const taskQueue = `bench-${randomUUID()}`;
  const workers: RunningWorker[] = [];
  const worker = async (more: Partial<ActivityDeps> = {}): Promise<RunningWorker> => {
    const running = await startWorker({
      variables: { TEMPORAL_ADDRESS: address },
      namespace: 'default',
      dataConverter,
      activities: { ...deps, ...more },
      log,
      bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
      taskQueue,
    });
    workers.push(running);
    return running;
  };
  await worker();
  const timeScale = skipping ? 1 : options.time === 'skipping' ? 0.001 : 1;

  const start = (type: string, workflowId: string, input: Record<string, unknown>) =>
    client.workflow.start(type, {
      taskQueue,
      workflowId,
      args: [timeScale === 1 ? input : { timeScale, ...input }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });

  const control: Bench['control'] = async (method, path, body) => {
    const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  };

  return {
    client,
    store,
    sandbox,
    deps,
    address,
    dataConverter,
    folder,
    timeScale,
    control,
    worker,
    async executions(operation, reference) {
      const found = await control('GET', `/executions?operation=${operation}&reference=${reference}`);
      return found['count'] as number;
    },
    async move(reference, status, operation) {
      const order = { status, ...(operation === undefined ? {} : { operation }) };
      const moved = () =>
        control('POST', `/transactions/${reference}/move`, order).then(
          () => true,
          (error: unknown) => {
            if (String(error).includes('there is no such way')) return false;
            throw error;
          },
        );
      await eventually(`${status} of ${reference} to be possible`, moved, MOVABLE_WITHIN_MS);
    },
    start: (input, id = `bridge-transfer/${String(input['provider_reference_id'])}`) =>
      start('bridgeTransfer', id, input),
    startFlow: (kind, reference, input) => start(workflowTypeOf(kind), flowIdOf(kind, reference), input),
    pass: (ms) => (skipping ? skipping.sleep(ms) : new Promise((resolve) => setTimeout(resolve, ms * timeScale))),
    async close() {
      await Promise.all(workers.map((running) => running.shutdown().catch(() => undefined)));
      await sandbox.close();
      await store.close();
      service.close();
      await retries.end();
      if (skipping) await skipping.teardown();
      else await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The SDK gives the server five seconds to start; a busy machine needs more now and then. */
async function startSkipping(path: string, dataConverter: DataConverter): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
        client: { dataConverter },
      });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

let counter = 0;

/** A reference that no other test of this run uses. */
export function newReference(word: string): string {
  counter += 1;
  return `${word}-${process.pid}-${Date.now().toString(36)}-${counter}`;
}

/** A bridge transfer's input: 1,000 KES to 100 ZAR, over an address on CELO. */
export function transferInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    customer_key: 'customer-1',
    provider_reference_id: reference,
    amount: '1000.50',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: '7.5' },
    settlement: {
      amount: '100',
      currency: 'ZAR',
      country: 'ZA',
      recipient: { phone_number: '+27821234567', account_holder_name: 'Canary Recipient' },
    },
    ...more,
  };
}

/** A trusted callback of the service, as the gateway would deliver it. */
export function trusted(status: string, more: Partial<FlowEvent> = {}): FlowEvent {
  return {
    id: randomUUID(),
    source: 'callback',
    trusted: true,
    proof: 'capability',
    status,
    receivedAt: new Date().toISOString(),
    facts: {},
    ...more,
  };
}

export async function reportOf(handle: WorkflowHandle): Promise<FlowReport> {
  return handle.query<FlowReport>('flow');
}

/** Patience with a busy machine: what takes so long does not come. */
const PATIENCE_MS = 60_000;
const FIRST_ASK_AFTER_MS = 15;
const ASK_AT_LEAST_EVERY_MS = 250;

/**
 * Asks until it holds, ever more slowly: each question is work for the worker that is to get there. Fails with the last
 * report.
 */
export async function until(handle: WorkflowHandle, holds: (report: FlowReport) => boolean): Promise<FlowReport> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_ASK_AFTER_MS; ; pauseMs = Math.min(ASK_AT_LEAST_EVERY_MS, pauseMs * 1.4)) {
    const report = await reportOf(handle);
    if (holds(report)) return report;
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(report.view, null, 1)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
