import type { Settings } from '../../config/index.js';
import type { CliContext } from '../context.js';
import type { Home } from '../wiring/home.js';
import { uiUrlOf } from '../wiring/temporal-ui.js';
import { temporalAddress } from '../wiring/temporal.js';
import { type Processes } from './start-processes.js';
import { gatewayUrl } from '../wiring/gateway-url.js';

/** Says where everything is. */
export function tellWhere(
  { out, colors }: CliContext,
  about: {
    readonly settings: Settings;
    readonly home: Home;
    readonly processes: Processes;
    readonly temporalPid: number | undefined;
  },
): void {
  const { settings, home, processes, temporalPid } = about;
  const { sandbox, gateway, worker } = processes;
  const service = sandbox === undefined ? ['service', settings.serviceBaseUrl] : ['sandbox', settings.serviceBaseUrl];
  const ui = uiUrlOf(settings);
  const lines = [
    ['gateway', gatewayUrl(settings)],
    service,
    ['Temporal', temporalAddress(settings)],
    ...(ui === undefined ? [] : [['Temporal UI', ui]]),
    ['home', `${home.folder}  (logs in ${home.logs})`],
    [
      'processes',
      processIds({ temporal: temporalPid, sandbox: sandbox?.pid(), gateway: gateway.pid(), worker: worker.pid() }),
    ],
  ];
  out(colors.bold('Towline is up'));
  for (const [what = '', where = ''] of lines) out(`  ${what.padEnd(12)} ${where}`);
}

function processIds(ids: Readonly<Record<string, number | undefined>>): string {
  const running = Object.entries(ids).filter(([, pid]) => pid !== undefined);
  return running.map(([name, pid]) => `${name} ${pid}`).join(' · ');
}
