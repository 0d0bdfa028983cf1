import { join } from 'node:path';
import { createServer } from 'node:net';
import type { Environment, Settings } from '../../config/index.js';
import type { TemporalClient } from '../../temporal/connection.js';
import { GatewayPortTakenError } from '../../gateway/http/server.js';
import type { Home } from '../wiring/load-settings.js';
import { graceMsOf, type ProcessName } from '../run-process.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
import { identityOf } from '../wiring/temporal.js';
import { CliError } from '../exit-codes.js';
import { sandboxPortTaken } from '../commands/sandbox.js';
import { type Child, startChild } from './child.js';
import type { Endings } from './interrupts.js';
import { supervise, type Supervised, untilItAnswers, untilItPolls } from './supervise.js';

export interface Processes {
  /** Undefined if the service is not our sandbox. */
  readonly sandbox: Supervised | undefined;
  readonly gateway: Supervised;
  readonly worker: Supervised;
}

export interface StartProcessesDeps {
  readonly settings: Settings;
  /** Their environment. */
  readonly env: Environment;
  readonly home: Home;
  readonly temporal: TemporalClient;
  readonly endings: Endings;
  readonly say: (line: string) => void;
}

/** Starts sandbox, gateway and worker as processes of their own, and waits until each can do its work. */
export async function startProcesses(deps: StartProcessesDeps): Promise<Processes> {
  const { settings, env, home, temporal, endings, say } = deps;

  const start = (name: ProcessName, untilItWorks: (child: Child, signal: AbortSignal) => Promise<void>): Supervised => {
    const logFile = join(home.logs, `${name}.log`);
    const graceMs = graceMsOf(name, settings);
    const supervised = supervise({ name, start: () => startChild({ name, env, logFile, graceMs }), say, untilItWorks });
    endings.add(supervised);
    return supervised;
  };

  const sandbox = settings.serviceIsSandbox
    ? start('sandbox', (_, signal) => untilItAnswers(`${settings.serviceBaseUrl}/_sandbox/clock`, signal))
    : undefined;
  const gateway = start('gateway', (_, signal) => untilItAnswers(`${gatewayUrl(settings)}/readyz`, signal));
  const worker = start('worker', ({ pid }, signal) => untilItPolls(temporal, identityOf('worker', pid), signal));
  const all = [sandbox, gateway, worker].filter((process) => process !== undefined);
  await Promise.all(all.map((process) => process.untilReady()));
  return { sandbox, gateway, worker };
}

type PortSettings = Pick<Settings, 'gatewayHost' | 'gatewayPort' | 'sandboxHost' | 'sandboxPort' | 'serviceIsSandbox'>;

/**
 * Called before anything is started, so that a taken port is reported at once.
 * @throws GatewayPortTakenError, CliError
 */
export async function assertPortsFree(settings: PortSettings): Promise<void> {
  const { gatewayHost, gatewayPort, sandboxHost, sandboxPort } = settings;
  if (await isTaken(gatewayPort, gatewayHost)) throw new GatewayPortTakenError(gatewayPort, gatewayHost);
  if (settings.serviceIsSandbox && (await isTaken(sandboxPort, sandboxHost))) {
    throw new CliError(sandboxPortTaken(sandboxPort, sandboxHost));
  }
}

/** The process that listens there reports any other problem of the address. */
function isTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    probe.listen({ port, host }, () => probe.close(() => resolve(false)));
  });
}
