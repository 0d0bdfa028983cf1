import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { lookUpRecord } from '../../activities/status-lookups.js';
import type { ActivityDeps, CardSource } from '../../activities/index.js';
import { systemClock, type Clock } from '../../src/clock.js';
import type { ServiceClient } from '../../src/service-client/index.js';
import { reportSettlement } from '../../src/contract/bridge.js';
import { flowIdOf, workflowTypeOf, type FlowKind } from '../../src/protocol/vocabulary.js';
import type { GatewayOptions } from '../../src/gateway/index.js';
import type { Keyring } from '../../src/keys/index.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.js';
import type { Store } from '../../src/store/store.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import type { LogSink } from '../../src/temporal/sdk-logger.js';
import { makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { openAt } from '../store/temporary-store.js';
import { threadInProcess } from '../store/thread-in-process.js';
import { ACCOUNT, keyring as testKeys, NAMESPACE, SERVICE_TOKEN, SETTLEMENT_SECRET } from './fixed.js';
import { openGateway, type TestGateway } from './gateway.js';
import { openService, type Between, type Control } from './service.js';
import type { TestTemporal, TestTemporalOptions, TestWorker, TestWorkerShare } from './temporal.js';

export type { Answer } from './service.js';

export interface StackOptions {
  /** `skipping`: the model of Temporal in this process, whose time can be skipped; `real`: the test run's server. @default 'real' */
  readonly time?: 'real' | 'skipping';
  /** @default the test run's server */
  readonly temporalAddress?: string;
  /** False: the test starts its own workers, or none. @default true */
  readonly worker?: boolean;
  /** The real gateway, to which the sandbox's settlement provider then posts, signed. @default none */
  readonly gateway?: GatewayChoice;
  readonly sandbox?: Partial<SandboxOptions>;
  readonly deps?: Partial<ActivityDeps>;
  /** Of a call to the service; long, so that a busy machine adds no fault of its own. @default 8,000 */
  readonly timeoutMs?: number;
  /** Stands between the product and the sandbox. @default nothing */
  readonly between?: (sandboxUrl: string) => Promise<Between>;
  /** What the workers see of the store. */
  readonly wrapStore?: (store: Store) => Store;
  /** Path of a file, or URL of a database. @default a file of its own; a database of its own with `TEST_STORE=postgres` */
  readonly storePath?: string;
  readonly keyring?: Keyring;
  /** Of workflows, with skipped time alone. @default that of the product */
  readonly workflowBundle?: string | undefined;
  /** @default one of its own */
  readonly taskQueue?: string;
  /** In every event of its client and its workers. @default the SDK's, which names the process */
  readonly identity?: string;
  /** The workers' log. `STACK_LOG=1` shows it. */
  readonly log?: LogSink;
}

export interface GatewayChoice {
  /** Settings. */
  readonly env?: Record<string, string>;
  readonly options?: Partial<GatewayOptions>;
}

/** The product on a task queue of its own, with store and sandbox, on the shared Temporal server unless it skips time. */
export interface Stack extends Control {
  readonly client: Client;
  readonly store: Store;
  readonly sandbox: Sandbox;
  readonly service: ServiceClient;
  readonly deps: ActivityDeps;
  readonly address: string;
  readonly dataConverter: DataConverter;
  /** Folder of its store and its sandbox. */
  readonly folder: string;
  readonly storePath: string;
  readonly taskQueue: string;
  /** Starts a bridge transfer. */
  start(input: Record<string, unknown>, id?: string): Promise<WorkflowHandle>;
  /** Starts a flow of any kind under its own id. */
  startFlow(kind: FlowKind, reference: string, input: Record<string, unknown>): Promise<WorkflowHandle>;
  /** Ends every open flow: a parked one keeps asking, and skipped time must wait for each query. */
  terminateAll(): Promise<void>;
  worker(deps?: Partial<ActivityDeps>, share?: TestWorkerShare): Promise<TestWorker>;
  /** A worker for the cards that a gateway keeps; its starter stops it. */
  cardWorker(cards: CardSource & { readonly queue: string }, deps?: Partial<ActivityDeps>): Promise<TestWorker>;
  /** Lets this much of the flows' time pass: at once if time can be skipped. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type StackWithGateway = Stack & { readonly gateway: TestGateway };

/** Nothing listens there. */
const NO_GATEWAY = 'http://127.0.0.1:9';
const STEP_MS = 20;

const silent: LogSink = { info() {}, warn() {}, error() {}, debug() {} };
const spoken: LogSink = { info: console.log, warn: console.log, error: console.log, debug: console.log };

export function openStack(options: StackOptions & { readonly gateway: GatewayChoice }): Promise<StackWithGateway>;
export function openStack(options?: StackOptions): Promise<Stack>;
export async function openStack(options: StackOptions = {}): Promise<Stack | StackWithGateway> {
  const { keyring = testKeys, timeoutMs = 8_000, taskQueue = `test-${randomUUID()}` } = options;
  const log = options.log ?? (process.env['STACK_LOG'] ? spoken : silent);
  const folder = await mkdtemp(join(tmpdir(), 'towline-stack-'));
  const isVirtual = options.time === 'skipping';
  // Nothing is sealed that never leaves this process.
  const dataConverter = isVirtual ? {} : createDataConverter({ keyring, namespace: NAMESPACE });
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const closeAll = async () => {
    for (const close of closing.toReversed()) await close();
  };
  try {
    const storePath = options.storePath ?? (await storeOfItsOwn(folder, closing));
    const temporal = await openTemporal(isVirtual, options.workflowBundle, {
      dataConverter,
      taskQueue,
      log,
      ...(options.temporalAddress === undefined ? {} : { address: options.temporalAddress }),
      ...(options.identity === undefined ? {} : { identity: options.identity }),
    });
    closing.push(() => temporal.close());
    const { client, address } = temporal;
    const thread = isVirtual ? { startThread: threadInProcess } : {};
    const store = await openAt(storePath, { keyring, now: temporal.nowMs, ...thread });
    closing.push(() => store.close());

    // The gateway needs the service, and the sandbox the gateway's address: it gets the service after its start.
    const later: { deps?: ActivityDeps } = {};
    const depsOf = () => later.deps ?? Promise.reject(new Error('a call came before the stack was open'));
    const gateway =
      options.gateway &&
      (await openGateway({
        temporalAddress: address,
        store,
        client,
        taskQueue,
        ...(options.gateway.env === undefined ? {} : { env: options.gateway.env }),
        options: {
          service: {
            client: { relay: async (...call) => (await depsOf()).service.relay(...call) },
            token: () => Promise.resolve(SERVICE_TOKEN),
            lookUp: async (...asked) => lookUpRecord({ ...(await depsOf()), timeScale: 0.01 }, ...asked),
          },
          serveCards: async (cards) => temporal.cardWorker(await depsOf(), cards),
          ...options.gateway.options,
        },
      }));
    if (gateway) closing.push(() => gateway.close());

    const toGateway = { settlementUrl: `${gateway?.url}${reportSettlement.path}`, settlementSecret: SETTLEMENT_SECRET };
    const { sandbox, service, control, executions, move, close } = await openService({
      timeoutMs,
      ...(options.between === undefined ? {} : { between: options.between }),
      sandbox: {
        dbPath: join(folder, 'sandbox.db'),
        stepMs: STEP_MS,
        ...(gateway === undefined ? {} : toGateway),
        ...options.sandbox,
        token: options.sandbox?.token ?? SERVICE_TOKEN,
      },
    });
    closing.push(close);
    const deps: ActivityDeps = {
      service,
      store: options.wrapStore?.(store) ?? store,
      account: ACCOUNT,
      publicUrl: gateway?.url ?? NO_GATEWAY,
      serviceTimeoutMs: timeoutMs,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      ...(gateway && { maxAmounts: gateway.settings.maxAmounts, fourEyes: gateway.settings.fourEyes }),
      repeatSettingOf: () => 'unknown',
      newOwner: () => randomUUID(),
      monotonicMs: () => performance.now(),
      ...(isVirtual ? { clock: hurried } : {}),
      log,
      ...options.deps,
    };
    later.deps = deps;

    const worker = async (more: Partial<ActivityDeps> = {}, share?: TestWorkerShare): Promise<TestWorker> => {
      const running = await temporal.worker({ ...deps, ...more }, share);
      closing.push(() => running.shutdown().catch(() => undefined));
      return running;
    };
    if (options.worker ?? true) await worker();

    const started = new Map<string, WorkflowHandle>();
    const start = async (type: string, workflowId: string, input: Record<string, unknown>) => {
      const handle = await client.workflow.start(type, {
        taskQueue,
        workflowId,
        args: [input],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      });
      started.set(workflowId, handle);
      return handle;
    };
    // One that has ended by itself is not found.
    const terminateAll = async () => {
      await Promise.all([...started.values()].map((handle) => handle.terminate().catch(() => undefined)));
      started.clear();
    };

    return {
      client,
      store,
      sandbox,
      service,
      deps,
      address,
      dataConverter,
      folder,
      storePath,
      taskQueue,
      ...(gateway === undefined ? {} : { gateway }),
      control,
      executions,
      move,
      worker,
      cardWorker: (cards, more = {}) => temporal.cardWorker({ ...deps, ...more }, cards),
      terminateAll,
      start: (input, id = flowIdOf('bridge-transfer', String(input['provider_reference_id']))) =>
        start(workflowTypeOf('bridge-transfer'), id, input),
      startFlow: (kind, reference, input) => start(workflowTypeOf(kind), flowIdOf(kind, reference), input),
      pass: temporal.pass,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function storeOfItsOwn(folder: string, closing: (() => Promise<unknown>)[]): Promise<string> {
  if (process.env['TEST_STORE'] !== 'postgres') return join(folder, 'store.db');
  const database = await makeTemporaryDatabase();
  closing.push(() => database.drop());
  return database.url;
}

/** Pauses within an activity, which no time that is skipped can shorten. */
const hurried: Clock = { ...systemClock, after: (ms, work) => systemClock.after(ms / 50, work) };

/** Each is loaded where it is used: loading the SDK's worker takes longer than most tests. */
async function openTemporal(
  isVirtual: boolean,
  bundle: string | undefined,
  options: TestTemporalOptions,
): Promise<TestTemporal> {
  if (isVirtual) return (await import('./virtual/temporal.js')).openVirtualTemporal(bundle);
  return (await import('./real-temporal.js')).openRealTemporal(options);
}
