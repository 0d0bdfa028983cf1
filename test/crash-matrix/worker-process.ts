import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { closedPort } from '../cli/run.js';
import { until } from '../harness/until.js';

const STARTS_WITHIN_MS = 60_000;

export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly ask: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly metrics: () => Promise<string>;
}

/** `towline worker` with this environment, for these queues or for all, as soon as it is ready. */
export async function startWorkerProcess(
  env: Readonly<Record<string, string>>,
  queues?: string,
): Promise<WorkerProcess> {
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
