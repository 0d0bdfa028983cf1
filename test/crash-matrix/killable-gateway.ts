import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Measured {
  readonly rssMb: number;
  readonly peakMb: number;
  readonly stallP99Ms: number;
  readonly stallMaxMs: number;
}

export interface KillableGateway {
  readonly url: string;
  /** Of its process: memory now, the most it ever used, and how long its event loop was blocked since the last call. */
  measure(): Promise<Measured>;
  /** SIGKILL: nothing of it runs any more when this resolves. */
  kill(): Promise<void>;
}

/** Starts a gateway process and waits until it listens. */
export async function startKillable(env: Record<string, string>): Promise<KillableGateway> {
  const loader = fileURLToPath(new URL('tools/typescript.mjs', `file://${root}/`));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--no-warnings', '--import', loader, fileURLToPath(new URL('./killable-gateway-child.ts', import.meta.url))],
    { cwd: root, env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const gone = once(child, 'exit');
  const url = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(([chunk]) => String(chunk).trim()),
    gone.then(() => Promise.reject(new Error(`the gateway ended at its start: ${errors}`))),
  ]);
  return {
    url,
    async measure() {
      child.send('measure');
      const [measured] = await once(child, 'message');
      return measured as Measured;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Settings of an attacked gateway: no limit of its own protects its server. */
export const hostileGatewayEnv = (home: string): Record<string, string> => ({
  GATEWAY_PORT: '0',
  TOWLINE_HOME: home,
  SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  GATEWAY_RATE_LIMIT: '0',
  UNPROVEN_RATE_LIMIT: '0',
  LOG_LEVEL: 'silent',
});
