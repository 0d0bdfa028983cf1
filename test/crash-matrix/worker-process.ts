import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyring } from '../../src/keys/index.js';
import type { SandboxOptions } from '../../src/sandbox/sandbox.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { closedPort, TOWLINE } from '../cli/run.js';
import { openNamespace } from '../harness/namespace.js';
import { until } from '../harness/until.js';
import { openSlowService } from './slow-service.js';

const STARTS_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 5_000;
const PAYLOAD_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

interface CliProcess {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface WorkerProcess extends CliProcess {
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly metrics: () => Promise<string>;
}

export interface GatewayProcess extends CliProcess {
  readonly url: string;
}

/**
 * A sandbox behind a slow service, a namespace of its own, and processes of workers and gateways with one store.
 *
 * @param scratch a folder of the test
 * @param temporalAddress default: the test run's server
 * @param databaseUrl of a store on Postgres; default: an embedded one
 */
export async function openWorkerRig(
  scratch: string,
  namespace: string,
  sandboxOptions: Pick<SandboxOptions, 'stepMs' | 'repeatMode'>,
  temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] as string,
  databaseUrl?: string,
) {
  const home = join(scratch, 'home');
  const sandbox = await startSandbox({ dbPath: join(scratch, 'sandbox.db'), token: 'a-token', ...sandboxOptions });
  const service = await openSlowService(sandbox.url);
  const variables = {
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
  };
  const temporal = connectTemporal({
    variables,
    dataConverter: createDataConverter({ keyring: parseKeyring(PAYLOAD_KEYS), namespace }),
  });
  await openNamespace(temporal.client.connection as never, namespace);
  const env = {
    PATH: process.env['PATH'] ?? '',
    TOWLINE_HOME: home,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    SERVICE_BASE_URL: service.url,
    // The end of a worker cuts no POST before its time, however slow this machine is.
    SERVICE_TIMEOUT: '600',
    DEVELOPMENT: 'true',
    SERVICE_TOKEN: 'a-token',
    PAYLOAD_KEYS,
    ...variables,
    LOG_LEVEL: 'error',
  };
  const processes: CliProcess[] = [];
  return {
    store: join(home, 'store.db'),
    sandbox,
    service,
    client: temporal.client,
    env,
    /** @param more settings of its own */
    async startWorker(queues?: string, more: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> {
      const worker = await startWorkerProcess({ ...env, ...more }, queues);
      processes.push(worker);
      return worker;
    },
    /** @param more settings of its own */
    async startGateway(more: Readonly<Record<string, string>>): Promise<GatewayProcess> {
      const port = await closedPort();
      const url = `http://127.0.0.1:${port}`;
      const started = await startCliProcess(
        ['gateway'],
        { ...env, ...more, GATEWAY_PORT: String(port) },
        `${url}/readyz`,
      );
      processes.push(started);
      return { ...started, url };
    },
    async close(): Promise<void> {
      for (const { child } of processes) child.kill('SIGKILL');
      service.letGo();
      await temporal.close();
      await service.close();
      await sandbox.close();
    },
  };
}

/** `towline worker` with this environment, for these queues or for all, as soon as it is ready. */
async function startWorkerProcess(env: Readonly<Record<string, string>>, queues?: string): Promise<WorkerProcess> {
  const [port, metricsPort] = [await closedPort(), await closedPort()];
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const started = await startCliProcess(
    ['worker', ...(queues === undefined ? [] : ['--queues', queues])],
    { ...env, WORKER_PROBE_PORT: String(port), WORKER_METRICS_PORT: String(metricsPort) },
    `http://127.0.0.1:${port}/readyz`,
  );
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return { ...started, ask, metrics };
}

/** A command of the command line, as soon as this URL says that it is ready. */
async function startCliProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  readyUrl: string,
): Promise<CliProcess> {
  const child = spawn(process.execPath, [TOWLINE, ...args], { cwd: tmpdir(), env, stdio: 'ignore' });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? -1));
  });
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`the ${args[0]} ended with ${child.exitCode}`);
    return (
      (await fetch(readyUrl, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }).catch(() => undefined))?.status === 200
    );
  };
  try {
    await until(`the ${args[0]} to be ready`, isReady, STARTS_WITHIN_MS);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, ended };
}
