import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { ActivityDeps } from '../../activities/index.js';
import { createServiceClient, type ServiceClient } from '../../src/client/index.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { openStore } from '../../src/store/open-store.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { exampleInput } from '../../src/cli/demo/example-input.js';
import { flowIdOf, TASK_QUEUE, workflowTypeOf, type FlowKind } from '../../src/flows/vocabulary.js';
import { CardGiven } from '../../src/gateway/cards/card-schema.js';
import { createCardVault, type CardVault } from '../../src/gateway/cards/card-vault.js';
import { startCardWorker } from '../../src/temporal/card-worker.js';
import { createDataConverter } from '../../src/temporal/payload-data-converter.js';
import { startWorker } from '../../src/temporal/worker.js';
import { transferInput } from '../workflows/bench.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';

/** What scenes are played on: the real dev server, sandbox and store, and a worker with the bundle of these sources. */
export interface Stage {
  readonly client: Client;
  readonly store: Store;
  readonly service: ServiceClient;
  /** A bridge transfer. */
  start(reference: string, more?: Record<string, unknown>): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** A flow of any kind, from its example; a card is kept by this stage. */
  startKind(
    kind: FlowKind,
    reference: string,
    more?: Record<string, unknown>,
  ): Promise<WorkflowHandleWithFirstExecutionRunId>;
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
  const activities: ActivityDeps = {
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
  };
  const variables = { TEMPORAL_ADDRESS: address };
  const common = {
    variables,
    namespace: RECORDING_NAMESPACE,
    dataConverter,
    identity: IDENTITY,
    log: silent,
    activities,
  };
  const worker = await startWorker({ ...common, bundlePath });
  const cards = createCardVault({ nowMs: Date.now });
  const cardWorker = await startCardWorker({ ...common, cards });

  return {
    client,
    store,
    service: serviceClient,
    async startKind(kind, reference, more = {}) {
      const { card, ...example } = await exampleInput(kind, reference);
      const kept = card === undefined ? {} : keptCard(cards, card);
      return client.workflow.start(workflowTypeOf(kind), {
        taskQueue: TASK_QUEUE,
        workflowId: flowIdOf(kind, reference),
        args: [{ ...example, ...kept, ...more }],
      });
    },
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
      await Promise.all([worker.shutdown(), cardWorker.shutdown()]);
      await service.close();
      await store.close();
      serviceClient.close();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What an input has in the place of a card. */
function keptCard(cards: CardVault, card: unknown) {
  const kept = cards.keep(CardGiven.parse(card));
  if (kept === undefined) throw new Error('no place for another card');
  return { cardToken: kept.cardToken, masked: kept.masked };
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
