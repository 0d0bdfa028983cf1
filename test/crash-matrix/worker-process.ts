import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { parseKeyring } from '../../src/keys/index.js';
import type { SandboxOptions } from '../../src/sandbox/options.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { closedPort } from '../cli/run.js';
import { openNamespace } from '../harness/namespace.js';
import { until } from '../harness/until.js';
import { openSlowService } from './slow-service.js';

const STARTS_WITHIN_MS = 60_000;
const PAYLOAD_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly metrics: () => Promise<string>;
}

/**
 * A sandbox behind a slow service, a namespace of its own, and worker processes with one embedded store.
 *
 * @param scratch a folder of the test
 */
export async function openWorkerRig(
  scratch: string,
  namespace: string,
  sandboxOptions: Pick<SandboxOptions, 'stepMs' | 'repeatMode'>,
) {
  const home = join(scratch, 'home');
  const sandbox = await startSandbox({ dbPath: join(scratch, 'sandbox.db'), token: 'a-token', ...sandboxOptions });
  const service = await openSlowService(sandbox.url);
  const variables = {
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] as string,
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
    SERVICE_BASE_URL: service.url,
    // The end of a worker cuts no POST before its time, however slow this machine is.
    SERVICE_TIMEOUT: '600',
    DEVELOPMENT: 'true',
    SERVICE_TOKEN: 'a-token',
    PAYLOAD_KEYS,
    ...variables,
    LOG_LEVEL: 'error',
  };
  const workers: WorkerProcess[] = [];
  return {
    store: join(home, 'store.db'),
    sandbox,
    service,
    client: temporal.client,
    env,
    async startWorker(queues?: string): Promise<WorkerProcess> {
      const worker = await startWorkerProcess(env, queues);
      workers.push(worker);
      return worker;
    },
    async close(): Promise<void> {
      for (const { child } of workers) child.kill('SIGKILL');
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
  const main = ['--import', join(packageRoot(), 'tools', 'typescript.mjs'), join(packageRoot(), 'src/cli/main.ts')];
  const child = spawn(process.execPath, [...main, 'worker', ...(queues === undefined ? [] : ['--queues', queues])], {
    cwd: tmpdir(),
    env: { ...env, WORKER_PROBE_PORT: String(port), WORKER_METRICS_PORT: String(metricsPort) },
    stdio: 'ignore',
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? -1));
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`the worker ended with ${child.exitCode}`);
    return (await ask('/readyz').catch(() => undefined))?.status === 200;
  };
  try {
    await until('the worker to be ready', isReady, STARTS_WITHIN_MS);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return { child, ended, ask, metrics };
}
