import { join } from 'node:path';
import type { Environment, Settings } from '../../config/index.js';
import type { TemporalClient } from '../../temporal/connection.js';
import type { Home } from '../wiring/home.js';
import type { ProcessName } from '../wiring/logger.js';
import { identityOf } from '../wiring/temporal.js';
import type { Child } from './child.js';
import type { Endings } from './endings.js';
import { supervise, type Supervised } from './supervise.js';
import { untilItAnswers, untilItPolls } from './until-it-works.js';

export interface Processes {
  /** Undefined where the service is not our sandbox. */
  readonly sandbox: Supervised | undefined;
  readonly gateway: Supervised;
  readonly worker: Supervised;
}

export interface StartProcessesDeps {
  readonly settings: Settings;
  /** What they get as their environment. */
  readonly env: Environment;
  readonly home: Home;
  readonly temporal: TemporalClient;
  readonly endings: Endings;
  readonly say: (line: string) => void;
}

/** Beyond the longest POST, which a worker finishes before it ends. */
const WORKER_GRACE_MS = 20_000;
const GRACE_MS = 15_000;

/** Starts sandbox, gateway and worker as processes of their own, and waits until each can do its work. */
export async function startProcesses(deps: StartProcessesDeps): Promise<Processes> {
  const { settings, env, home, temporal, endings, say } = deps;

  const start = (
    name: ProcessName,
    graceMs: number,
    untilItWorks: (child: Child, signal: AbortSignal) => Promise<void>,
  ): Supervised => {
    const logFile = join(home.logs, `${name}.log`);
    const supervised = supervise({ name, env, logFile, graceMs }, { say, untilItWorks });
    endings.add(supervised);
    return supervised;
  };

  const sandbox = settings.serviceIsSandbox
    ? start('sandbox', GRACE_MS, (_, signal) => untilItAnswers(`${settings.serviceBaseUrl}/_sandbox/clock`, signal))
    : undefined;
  const gateway = start('gateway', GRACE_MS, (_, signal) => untilItAnswers(`${gatewayUrl(settings)}/readyz`, signal));
  const worker = start('worker', settings.serviceTimeoutMs + WORKER_GRACE_MS, ({ pid }, signal) =>
    untilItPolls(temporal, identityOf('worker', pid), signal),
  );
  const all = [sandbox, gateway, worker].filter((process) => process !== undefined);
  await Promise.all(all.map((process) => process.untilReady()));
  return { sandbox, gateway, worker };
}

/** The gateway as a process of this machine reaches it. */
export function gatewayUrl({ gatewayHost, gatewayPort }: Pick<Settings, 'gatewayHost' | 'gatewayPort'>): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host = everywhere[gatewayHost] ?? (gatewayHost.includes(':') ? `[${gatewayHost}]` : gatewayHost);
  return `http://${host}:${gatewayPort}`;
}
