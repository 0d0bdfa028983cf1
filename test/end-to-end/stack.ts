import type * as runner from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { ActivityDeps } from '../../activities/index.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.js';
import type { Store } from '../../src/store/store.js';
import { keyring } from '../harness/fixed.js';
import type { TestGateway } from '../harness/gateway.js';
import { openJournal } from '../harness/journal.js';
import { openStack as openHarness, type Answer } from '../harness/stack.js';
import { startWireLog, type WireLog } from '../harness/wire-log.js';
import type { Sources } from './reconcile/gather.js';
import type { Witnesses } from './reconcile/witnesses.js';
import { createReconciler } from './reconcile.js';

/** Gateway, worker and sandbox as they are in production, on ports and files of their own, over the shared Temporal server. */
export interface Stack extends TestGateway {
  readonly store: Store;
  readonly client: Client;
  readonly taskQueue: string;
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** Everything that the workers logged. */
  readonly workerLog: string[];
  readonly sources: Sources;
  control(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
  /** The flow may rest as parked: what was done that leaves no other way. */
  expectParked(flowId: string, because: string): void;
  /**
   * Checks everything so far: requests by `post` and `control`, and all stored data. @throws Error that names every
   * violation
   */
  reconcile(): Promise<Witnesses>;
  /** Reconciles once more, so that no test can forget it, and closes everything in any case. */
  close(): Promise<void>;
}

export interface StackOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  readonly env?: Record<string, string>;
  /** @default the test run's server */
  readonly temporalAddress?: string;
  readonly activities?: Partial<ActivityDeps>;
  /**
   * True if only the test drives it, by `post` and `control`: then each execution must be what it ordered, and a flow
   * that is parked one that it expects to be.
   * @default false
   */
  readonly drivenAlone?: boolean;
  /**
   * False if others than the test post to it, whose posts are not recorded: then `close` reconciles nothing.
   * @default true
   */
  readonly isReconciled?: boolean;
  /** How long the worker waits for the service; a busy machine must not look like a lost answer. @default 8,000 */
  readonly serviceTimeoutMs?: number;
}

/** For a `describe`: a stack for its tests, reconciled after each of them. */
export function withStack(options: StackOptions, use: (stack: Stack) => void): void {
  let stack: Stack | undefined;
  // The soak also loads this file, and cannot load `@jest/globals`.
  const { afterAll, afterEach, beforeAll } = globalThis as unknown as typeof runner;
  beforeAll(async () => {
    stack = await openStack(options);
    use(stack);
  });
  afterEach(() => stack?.reconcile());
  afterAll(() => stack?.close());
}

export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const workerLog: string[] = [];
  const note = (...line: unknown[]) => void workerLog.push(line.map((part) => JSON.stringify(part)).join(' '));
  const wires: WireLog[] = [];
  const stack = await openHarness({
    // A busy machine must not look like a flow that has no answer yet.
    gateway: { env: { PROXY_TIMEOUT: '60', ...options.env } },
    sandbox: { stepMs: 50, ...options.sandbox },
    between: async (sandboxUrl) => {
      const wire = await startWireLog(sandboxUrl);
      wires.push(wire);
      return wire;
    },
    log: { info: note, warn: note, error: note, debug: note },
    ...(options.temporalAddress === undefined ? {} : { temporalAddress: options.temporalAddress }),
    ...(options.activities === undefined ? {} : { deps: options.activities }),
    ...(options.serviceTimeoutMs === undefined ? {} : { timeoutMs: options.serviceTimeoutMs }),
  });
  const { client, taskQueue, sandbox, storePath, gateway } = stack;
  // Not beside the store: it has what was ordered in the clear.
  const journalFolder = await mkdtemp(join(tmpdir(), 'towline-journal-'));
  const journal = openJournal(join(journalFolder, 'driver.jsonl'));
  const post: Stack['post'] = (path, body, headers) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const asked = { of: 'gateway', method: 'POST', path, body: text };
    return journal.write(asked, () => gateway.post(path, text, headers));
  };
  const control: Stack['control'] = async (method, path, body) => {
    if (method === 'GET') return stack.control(method, path, body);
    const asked = { of: 'sandbox', method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const ask = async () => ({ status: 200, body: await stack.control(method, path, body) });
    return (await journal.write(asked, ask)).body;
  };
  const sources: Sources = {
    client,
    taskQueue,
    sandboxUrl: sandbox.url,
    gatewayUrl: gateway.url,
    storePath,
    payloadKeys: new Map([[keyring.active.id, keyring.active.bytes]]),
    journal: journal.path,
    drivenAlone: options.drivenAlone ?? false,
    wire: () => wires.flatMap((wire) => wire.requests()),
  };
  const reconcile = createReconciler(sources);
  return {
    ...gateway,
    store: stack.store,
    client,
    taskQueue,
    sandbox,
    folder: stack.folder,
    workerLog,
    sources,
    post,
    control,
    expectParked: (flowId, because) => journal.expect({ flowId, state: 'parked', because }),
    reconcile,
    async close() {
      try {
        if (options.isReconciled ?? true) await reconcile();
      } finally {
        await stack.close();
        journal.close();
        await rm(journalFolder, { recursive: true, force: true });
      }
    },
  };
}
