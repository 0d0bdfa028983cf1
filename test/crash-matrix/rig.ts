import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { reportSettlement } from '../../src/contract/bridge.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { flowOf } from '../../src/flows/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { startSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js';
import type { Store } from '../../src/store/store.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { startFlow, type StartedFlow } from '../../src/temporal/start-flow.js';
import type { Hold } from './crash-points.js';
import { keyring, NAMESPACE, SERVICE_TOKEN, SETTLEMENT_SECRET } from './fixed.js';
import { openGateway } from './gateway.js';
import { startProcess, type ProcessUnderTest } from './processes.js';
import { openAt } from '../store/temporary-store.js';

export interface RigOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  /** @default the test run's server */
  readonly temporalAddress?: string;
  /** False: the test starts its own gateways, or none. @default true */
  readonly gateway?: boolean;
  /** URL of a Postgres database for the store. @default a file */
  readonly databaseUrl?: string;
  /** The workers' `DUPLICATE_REFERENCE`. @default unknown */
  readonly repeat?: Repeat;
}

interface WorkerOptions {
  readonly holds?: readonly Hold[];
  /** @default 10,000 */
  readonly serviceTimeoutMs?: number;
  /**
   * Its clocks stand still: what it holds never becomes too old to be sent, however long it is stopped. @default false
   */
  readonly clocksStand?: boolean;
}

interface GatewayProcessOptions {
  readonly port: number;
  readonly holds?: readonly Hold[];
  readonly laterMs?: number;
}

/** Sandbox, store and gateway, on a task queue of their own; workers are processes that the test starts and ends. */
export interface Rig {
  readonly client: Client;
  readonly store: Store;
  readonly folder: string;
  readonly storePath: string;
  readonly taskQueue: string;
  readonly temporalAddress: string;
  readonly gatewayUrl: string;
  worker(options?: WorkerOptions): Promise<ProcessUnderTest>;
  gateway(options: GatewayProcessOptions): Promise<ProcessUnderTest>;
  start(input: Record<string, unknown>): Promise<WorkflowHandle>;
  startOrFind(input: Record<string, unknown>): Promise<StartedFlow>;
  startKind(kind: FlowKind, input: Record<string, unknown>): Promise<WorkflowHandle>;
  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Json>;
  /** How often the sandbox executed each `{operation} {reference}`. */
  executions(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** What the sandbox's control answers, compared by tests with what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/**
 * The service executes a repeated reference again: so that executions count the POSTs that reached it, and a second one
 * cannot hide.
 */
const STRICTEST = 'execute-again';

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-faults-'));
  const storePath = options.databaseUrl ?? join(folder, 'store.db');
  const taskQueue = `faults-${randomUUID()}`;
  const temporalAddress = options.temporalAddress ?? process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const store = await openAt(storePath, { keyring });
  const gatewayConfig = { temporalAddress, taskQueue, home: folder };
  const gateway = options.gateway === false ? undefined : await openGateway({ ...gatewayConfig, port: 0 }, store);
  const gatewayUrl = gateway?.url ?? 'http://127.0.0.1:9';
  const sandbox = await startSandbox({
    dbPath: join(folder, 'sandbox.db'),
    token: SERVICE_TOKEN,
    stepMs: 100,
    repeatMode: STRICTEST,
    settlementUrl: gatewayUrl + reportSettlement.path,
    settlementSecret: SETTLEMENT_SECRET,
    ...options.sandbox,
  });
  const temporal = connectTemporal({
    variables: { TEMPORAL_ADDRESS: temporalAddress },
    dataConverter: createDataConverter({ keyring, namespace: NAMESPACE }),
  });
  const { client } = temporal;
  const processes: ProcessUnderTest[] = [];
  const keep = (started: ProcessUnderTest) => {
    processes.push(started);
    return started;
  };
  const control: Rig['control'] = async (method, path, body) => {
    const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const startOrFind = (input: Record<string, unknown>): Promise<StartedFlow> =>
    startFlow({ client, store, taskQueue }, 'bridge-transfer', BridgeTransferInput.parse(input));

  return {
    client,
    store,
    folder,
    storePath,
    taskQueue,
    temporalAddress,
    gatewayUrl,
    control,
    worker: async ({ holds = [], serviceTimeoutMs = 10_000, clocksStand = false } = {}) =>
      keep(
        await startProcess('worker-child.ts', {
          temporalAddress,
          taskQueue,
          storePath,
          serviceUrl: sandbox.url,
          publicUrl: gatewayUrl,
          serviceTimeoutMs,
          bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
          holds,
          clocksStand,
          repeat: options.repeat ?? 'unknown',
        }),
      ),
    gateway: async (options) =>
      keep(await startProcess('gateway-child.ts', { ...gatewayConfig, storePath, holds: [], laterMs: 0, ...options })),
    startOrFind,
    async startKind(kind, input) {
      const started = await startFlow({ client, store, taskQueue }, kind, flowOf(kind).input.parse(input));
      return client.workflow.getHandle(started.flowId);
    },
    start: async (input) => client.workflow.getHandle((await startOrFind(input)).flowId),
    async executions() {
      const { executions } = await control('GET', '/executions');
      const counted = new Map<string, number>();
      for (const { operation, reference } of executions as { operation: string; reference: string }[]) {
        const key = `${operation} ${reference}`;
        counted.set(key, (counted.get(key) ?? 0) + 1);
      }
      return counted;
    },
    async close() {
      await Promise.all(processes.map((running) => running.kill()));
      await gateway?.close();
      await sandbox.close();
      await temporal.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function reportOf(handle: WorkflowHandle): Promise<FlowReport> {
  return handle.query<FlowReport>('flow');
}

/** Patience with a busy machine: what takes this long does not come. */
const PATIENCE_MS = 60_000;
/** Slow enough that polling a group of flows side by side leaves the machine to the test. */
const ASK_EVERY_MS = 200;

/** Polls each flow until it shows the expected value; null and undefined are not yet. */
export async function untilShown<T>(
  handles: readonly WorkflowHandle[],
  what: string,
  look: (report: FlowReport) => T | null | undefined | false,
  withinMs = PATIENCE_MS,
): Promise<readonly T[]> {
  const endsAtMs = performance.now() + withinMs;
  return Promise.all(
    handles.map(async (handle) => {
      for (;;) {
        const report = await reportOf(handle);
        const found = look(report);
        if (found !== undefined && found !== null && found !== false) return found;
        if (performance.now() > endsAtMs) throw new Error(`not ${what}: ${JSON.stringify(report.view, null, 1)}`);
        await sleep(ASK_EVERY_MS);
      }
    }),
  );
}

/** Waits until every flow has ended, by any way that returns a report. */
export async function endings(handles: readonly WorkflowHandle[]): Promise<readonly FlowReport[]> {
  return Promise.all(handles.map((handle) => handle.result() as Promise<FlowReport>));
}
