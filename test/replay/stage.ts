import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { createServiceClient } from '../../src/client/index.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { openStore } from '../../src/store/open-store.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { TASK_QUEUE } from '../../src/flows/vocabulary.js';
import { createDataConverter } from '../../src/temporal/payload-data-converter.js';
import { startWorker } from '../../src/temporal/worker.js';
import { transferInput } from '../workflows/bench.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';

/** What scenes are played on: the real dev server, sandbox and store, and a worker with the bundle of these sources. */
export interface Stage {
  readonly client: Client;
  readonly store: Store;
  start(reference: string, more?: Record<string, unknown>): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** `POST /_sandbox/…` */
  sandbox(path: string, body: unknown): Promise<void>;
  close(): Promise<void>;
}

/** In every recorded event: a name, where Temporal would write this machine's. */
const IDENTITY = 'recorder';
const SERVICE_TIMEOUT_MS = 2_000;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

export async function openStage(address: string, bundlePath: string): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-recording-'));
  const dataConverter = createDataConverter({ keyring: RECORDING_KEYS, namespace: RECORDING_NAMESPACE });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, dataConverter, identity: IDENTITY });
  const store = await openStore({ path: join(folder, 'store.db'), keyring: RECORDING_KEYS });
  const service = await startSandbox({ dbPath: join(folder, 'sandbox.db'), token: 'recorded', stepMs: 20 });
  const serviceClient = createServiceClient({
    baseUrl: service.url,
    token: () => Promise.resolve('recorded'),
    timeoutMs: SERVICE_TIMEOUT_MS,
  });
  const worker = await startWorker({
    variables: { TEMPORAL_ADDRESS: address },
    namespace: RECORDING_NAMESPACE,
    dataConverter,
    bundlePath,
    identity: IDENTITY,
    log: silent,
    activities: {
      service: serviceClient,
      store: { ...store, claims: forgetful(store.claims) },
      account: 'recorded',
      publicUrl: 'http://127.0.0.1:9',
      serviceTimeoutMs: SERVICE_TIMEOUT_MS,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      repeatSettingOf: () => 'unknown',
      newOwner: () => randomUUID(),
      monotonicMs: () => performance.now(),
      log: silent,
    },
  });

  return {
    client,
    store,
    start: (reference, more = {}) =>
      client.workflow.start('bridgeTransfer', {
        taskQueue: TASK_QUEUE,
        workflowId: `bridge-transfer/${reference}`,
        args: [transferInput(reference, more)],
      }),
    async sandbox(path, body) {
      const answer = await fetch(`${service.url}/_sandbox${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    },
    async close() {
      await worker.shutdown();
      await service.close();
      await store.close();
      serviceClient.close();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A store that fails to write the first answer of references that begin with `forgetful`: the flow writes it later. */
function forgetful(claims: ClaimStore): ClaimStore {
  const failed = new Set<string>();
  const once = (reference: string) => {
    if (!reference.startsWith('forgetful') || failed.has(reference)) return;
    failed.add(reference);
    throw new Error('the disk is full');
  };
  return new Proxy(claims, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      if (name !== 'recordAnswer' && name !== 'recordRejection') return member.bind(target);
      return async (...args: [{ reference: string }]) => {
        once(args[0].reference);
        return member.apply(target, args);
      };
    },
  });
}
