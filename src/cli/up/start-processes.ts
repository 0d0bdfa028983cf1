import { join } from 'node:path';
import type { Environment, Settings } from '../../config/index.js';
import type { TemporalClient } from '../../temporal/connection.js';
import type { Home } from '../wiring/home.js';
import { graceMsOf, type ProcessName } from '../process/process-name.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
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

/** Starts sandbox, gateway and worker as processes of their own, and waits until each can do its work. */
export async function startProcesses(deps: StartProcessesDeps): Promise<Processes> {
  const { settings, env, home, temporal, endings, say } = deps;

  const start = (name: ProcessName, untilItWorks: (child: Child, signal: AbortSignal) => Promise<void>): Supervised => {
    const logFile = join(home.logs, `${name}.log`);
    const graceMs = graceMsOf(name, settings);
    const supervised = supervise({ name, env, logFile, graceMs }, { say, untilItWorks });
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
