import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { loadOrMakeKeyring } from '../../src/keys/index.js';
import { openStore } from '../../src/store/libsql/open.js';
import { openPostgresStore } from '../../src/store/postgres/open.js';
import type { Store } from '../../src/store/store.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { startChild, type Child } from './child.js';
import { startTemporal, type TemporalServer } from './temporal.js';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** The real processes, `towline gateway`, `worker` and `sandbox`, with a Temporal server and files of their own. */
export interface Stack {
  readonly folder: string;
  readonly url: string;
  readonly temporalAddress: string;
  readonly sandboxUrl: string;
  readonly serverPid: number;
  readonly webhookSecret: string;
  /** Of this process: with the keys of the stack. */
  readonly client: Client;
  readonly store: Store;
  workerPid(): number;
  /** That of the first worker, and of those that were added. */
  workerPids(): readonly number[];
  gatewayPid(): number;
  /** Kills the worker as a crash would, and starts another one in its place. */
  crashWorker(): Promise<void>;
  /** Ends the gateway and starts another one in its place, which finds Temporal at `temporalAddress`. */
  restartGateway(temporalAddress: string): Promise<void>;
  /** Another worker beside it; closed with the stack. */
  addWorker(): Promise<void>;
  /** Another gateway beside it, on the same store; closed with the stack. */
  addGateway(): Promise<{ readonly url: string; readonly pid: number }>;
  close(): Promise<void>;
}

/**
 * @param more settings that take precedence over those of every benchmark
 * @param startServer starts its Temporal server. @default a dev server
 */
export async function openStack(
  log: (line: string) => void,
  more: Readonly<Record<string, string>> = {},
  startServer: (folder: string, log: (line: string) => void) => Promise<TemporalServer> = startTemporal,
): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-bench-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const server = await startServer(folder, log);
    closers.push(() => server.stop());
    const gatewayPort = await anyFreePort();
    const sandboxPort = await anyFreePort();
    const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
    const env = {
      TOWLINE_HOME: folder,
      TEMPORAL_ADDRESS: server.address,
      GATEWAY_PORT: String(gatewayPort),
      SANDBOX_PORT: String(sandboxPort),
      WEBHOOK_SECRETS: webhookSecret,
      GATEWAY_RATE_LIMIT: '0',
      UNPROVEN_RATE_LIMIT: '0',
      LOG_LEVEL: 'warn',
      ...more,
    };
    const start = (command: string, others: Readonly<Record<string, string>> = {}): Promise<Child> =>
      startChild(MAIN, { args: [command], env: { ...env, ...others }, folder });
    const sandbox = await start('sandbox');
    closers.push(() => sandbox.stop());
    let worker = await start('worker');
    closers.push(() => worker.stop());
    const moreWorkers: Child[] = [];
    let gateway = await start('gateway');
    closers.push(() => gateway.stop());

    const keyring = await loadOrMakeKeyring(folder);
    const { DATABASE_URL: shared } = more;
    const store = await (shared === undefined
      ? openStore({ path: join(folder, 'store.db'), keyring })
      : openPostgresStore({ url: shared, keyring }));
    closers.push(() => store.close());
    const dataConverter = createDataConverter({ keyring, namespace: 'default' });
    const temporal = connectTemporal({ variables: { TEMPORAL_ADDRESS: server.address }, dataConverter });
    closers.push(() => temporal.close());
    return {
      folder,
      url: `http://127.0.0.1:${gatewayPort}`,
      temporalAddress: server.address,
      sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
      serverPid: server.pid,
      webhookSecret,
      client: temporal.client,
      store,
      workerPid: () => worker.pid,
      workerPids: () => [worker, ...moreWorkers].map(({ pid }) => pid),
      gatewayPid: () => gateway.pid,
      async addWorker() {
        const another = await start('worker');
        moreWorkers.push(another);
        closers.push(() => another.stop());
      },
      async crashWorker() {
        await worker.kill();
        worker = await start('worker');
      },
      async restartGateway(temporalAddress) {
        await gateway.stop();
        gateway = await start('gateway', { TEMPORAL_ADDRESS: temporalAddress });
      },
      async addGateway() {
        const port = await anyFreePort();
        const another = await start('gateway', { GATEWAY_PORT: String(port) });
        closers.push(() => another.stop());
        return { url: `http://127.0.0.1:${port}`, pid: another.pid };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
