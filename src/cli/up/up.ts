import { DEVELOPMENT_TOKEN, type Settings } from '../../config/index.js';
import type { CliContext } from '../context.js';
import { playDemo } from '../demo/play-demo.js';
import { takeFileLock } from '../../dev-server/file-lock.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import { createGatewayClient, type GatewayClient } from '../gateway-client.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
import { uiUrlOf, temporalAddress } from '../wiring/temporal.js';
import { loadSettings, type Home } from '../wiring/load-settings.js';
import { createEndings, type Endings, listenForInterrupts } from './interrupts.js';
import { assertPortsFree, startProcesses, type Processes } from './start-processes.js';
import { prepareTemporal, provideTemporalServer } from './temporal-server.js';

export interface UpOptions {
  /** End after the demo. */
  readonly once: boolean;
  readonly demo: boolean;
}

const FOR_EVER = new Promise<never>(() => undefined);

/** Runs everything on this machine: Temporal, sandbox, gateway, worker, and a demo; until it is interrupted. */
export async function up(context: CliContext, options: UpOptions): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  const endings = createEndings();
  // Messages of processes that are still running while everything ends must not look important.
  const quietly: CliContext = {
    ...context,
    out: (line) => void (interrupts.signal.aborted || context.out(line)),
    err: (line) => void (interrupts.signal.aborted || context.err(line)),
  };
  try {
    return await Promise.race([
      serve(quietly, options, endings, interrupts.signal),
      interrupts.first.then(() => (options.once ? EXIT.refused : EXIT.done)),
    ]);
  } finally {
    if (interrupts.signal.aborted) context.err('ending: what is in flight is finished first (Ctrl-C again: at once)');
    const atOnce = interrupts.second.then(() => endings.stopAllNow());
    await Promise.race([endings.stopAll(), atOnce]);
    interrupts.stopListening();
  }
}

async function serve(
  context: CliContext,
  options: UpOptions,
  endings: Endings,
  signal: AbortSignal,
): Promise<ExitCode> {
  const say = (line: string) => context.err(context.colors.dim(line));
  const { settings: given, home } = await loadSettings(context.env);
  const release = lockHome(home);
  endings.add({ stop: async () => release(), stopNow: async () => release() });
  await assertPortsFree(given);

  const codecEndpoint = `${gatewayUrl(given)}/codec`;
  const server = await provideTemporalServer({ env: context.env, home, codecEndpoint, say });
  endings.add({ stop: () => server.stop(), stopNow: () => server.stop() });
  const env = server.environment;
  const { settings } = await loadSettings(env);
  const temporal = await prepareTemporal(settings, say);
  endings.add({ stop: () => temporal.close(), stopNow: () => temporal.close() });
  const processes = await startProcesses({ settings, env, home, temporal, endings, say });
  printAddresses(context, { settings, home, processes, temporalPid: server.pid() });

  const [token] = settings.gatewayTokens;
  const gateway = createGatewayClient({ url: gatewayUrl(settings), token: token?.secret ?? '', signal });
  await printEarlierFlows(context, gateway);
  const { namespace } = temporal;
  const asExpected = options.demo ? await playDemo({ context, settings, namespace, processes, gateway }) : true;
  if (options.once) return asExpected ? EXIT.done : EXIT.refused;
  context.out(context.colors.dim('Ctrl-C ends it. The next start continues from here.'));
  return FOR_EVER;
}

/**
 * Makes this process the only `towline up` of this home. @returns a function that releases it @throws CliError if
 * another one runs here
 */
export function lockHome(home: Pick<Home, 'folder' | 'lock'>): () => void {
  const lock = takeFileLock(home.lock);
  if (lock.taken) return () => lock.release();
  throw new CliError(
    `${home.folder} is in use by process ${lock.pid ?? '(starting)'}: stop that one, or set TOWLINE_HOME, GATEWAY_PORT and ` +
      'SANDBOX_PORT to run another one beside it.',
  );
}

/** Prints all addresses. */
function printAddresses(
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
  // The sandbox's token is of use on this machine alone, and docs/sandbox.md is tried with it.
  const service =
    sandbox === undefined
      ? ['service', settings.serviceBaseUrl]
      : ['sandbox', `${settings.serviceBaseUrl}  (token ${settings.serviceToken})`];
  const ui = uiUrlOf(settings);
  const token = settings.gatewayTokens.includes(DEVELOPMENT_TOKEN)
    ? `token ${DEVELOPMENT_TOKEN.secret}`
    : 'token of GATEWAY_TOKENS';
  const lines = [
    ['gateway', gatewayUrl(settings)],
    ['console', `${gatewayUrl(settings)}/console  (${token})`],
    service,
    ['Temporal', temporalAddress(settings)],
    ...(ui === undefined ? [] : [['Temporal UI', ui]]),
    // What other programs need, such as those in examples/: the port may be another one than usual.
    ['for clients', `export TEMPORAL_ADDRESS=${temporalAddress(settings)} GATEWAY_URL=${gatewayUrl(settings)}`],
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

const MOST = 500;

/** A home that was used before still has its flows: running ones continue, parked ones still wait. */
async function printEarlierFlows({ out }: CliContext, gateway: Pick<GatewayClient, 'list'>): Promise<void> {
  const { flows } = await gateway.list({ limit: MOST });
  if (flows.length === 0) return;
  const states = [...new Set(flows.map(({ state }) => state))].sort();
  const counts = states.map((state) => `${flows.filter((flow) => flow.state === state).length} ${state}`);
  out(`Flows of earlier starts${flows.length === MOST ? ' (the latest)' : ''}: ${counts.join(', ')}`);
}
