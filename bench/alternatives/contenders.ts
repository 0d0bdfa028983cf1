import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import Database from 'libsql';
import { flowIdOf } from '../../src/protocol/vocabulary.js';
import { createFlowReader } from '../../src/temporal/flow-handle.js';
import { startFlow } from '../../src/temporal/start-flow.js';
import type { Processes } from '../measure/cpu.js';
import { startChild, type Child } from '../setup/child.js';
import type { Stack } from '../setup/stack.js';
import type { Order } from './service.js';

/** The program's own statement about a transfer. `asks a person`: it can neither know nor go on, and says so. */
export type Said = 'completed' | 'failed' | 'asks a person' | 'under way';

/** One way to send money, with the service's sandbox and a Temporal server beside it. */
export interface Contender {
  readonly name: string;
  order(order: Order): Promise<unknown>;
  said(reference: string): Promise<Said>;
  /** Kills the process that sends, and starts it again. */
  crash(): Promise<void>;
  /** Processes whose CPU is counted. */
  processes(): Processes;
  /** Events in the history of one transfer; undefined if it has none. */
  historyEvents(reference: string): Promise<number | undefined>;
  close(): Promise<void>;
}

const LOADER = new URL('../../tools/typescript.mjs', import.meta.url).href;
const root = fileURLToPath(new URL('../..', import.meta.url));

function startProgram(name: string, env: Readonly<Record<string, string>>): Promise<Child> {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  return startChild(program, { execArgv: ['--no-warnings', '--import', LOADER], env, folder: root });
}

export function openTowline(stack: Stack): Promise<Contender> {
  const reader = createFlowReader(stack.client);
  const flowIdFor = (reference: string) => flowIdOf('crypto-send', reference);
  return Promise.resolve({
    name: 'Towline',
    order: (order) => startFlow(stack, 'crypto-send', { ...order, cryptoAmount: String(order.cryptoAmount) }),
    async said(reference) {
      const state = (await reader.facts(flowIdFor(reference)))?.state ?? 'running';
      if (state === 'completed') return 'completed';
      if (state === 'parked') return 'asks a person';
      return state === 'running' ? 'under way' : 'failed';
    },
    crash: () => stack.crashWorker(),
    processes: () => ({ server: stack.serverPid, worker: stack.workerPid() }),
    historyEvents: (reference) => eventsOf(stack.client, flowIdFor(reference)),
    close: () => Promise.resolve(),
  });
}

export async function openNaive(stack: Stack): Promise<Contender> {
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress, SERVICE_URL: stack.sandboxUrl };
  let worker = await startProgram('naive-worker', env);
  // Without the keys of the stack: such a flow has none.
  const client = new Client({ connection: stack.client.connection });
  return {
    name: 'naive workflow',
    order: (order) =>
      client.workflow.start('naiveFlow', { workflowId: order.referenceId, taskQueue: 'naive', args: [order] }),
    async said(reference) {
      const { status } = await client.workflow.getHandle(reference).describe();
      if (status.name === 'RUNNING') return 'under way';
      if (status.name !== 'COMPLETED') return 'failed';
      return (await client.workflow.getHandle(reference).result()) === 'completed' ? 'completed' : 'failed';
    },
    async crash() {
      await worker.kill();
      worker = await startProgram('naive-worker', env);
    },
    processes: () => ({ server: stack.serverPid, worker: worker.pid }),
    historyEvents: (reference) => eventsOf(client, reference),
    async close() {
      await worker.stop();
    },
  };
}

export async function openPoller(stack: Stack): Promise<Contender> {
  const path = join(stack.folder, 'poller.db');
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec(
    'CREATE TABLE IF NOT EXISTS transfers (reference TEXT PRIMARY KEY, state TEXT, attempts INTEGER, body TEXT)',
  );
  const insert = database.prepare("INSERT INTO transfers VALUES (?, 'new', 0, ?)");
  const find = database.prepare('SELECT state FROM transfers WHERE reference = ?');
  const env = { SERVICE_URL: stack.sandboxUrl, POLLER_DATABASE: path };
  let poller = await startProgram('poller', env);
  return {
    name: 'poller',
    order: (order) => Promise.resolve(insert.run(order.referenceId, JSON.stringify(order))),
    said(reference) {
      const { state } = find.get(reference) as { state: string };
      return Promise.resolve(state === 'completed' || state === 'failed' ? state : 'under way');
    },
    async crash() {
      await poller.kill();
      poller = await startProgram('poller', env);
    },
    processes: () => ({ poller: poller.pid }),
    historyEvents: () => Promise.resolve(undefined),
    async close() {
      await poller.stop();
      database.close();
    },
  };
}

async function eventsOf(client: Client, workflowId: string): Promise<number> {
  return (await client.workflow.getHandle(workflowId).describe()).historyLength;
}
