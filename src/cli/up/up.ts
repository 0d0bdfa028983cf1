import type { CliContext } from '../context.js';
import { playDemo } from '../demo/play-demo.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { createGatewayClient } from '../gateway-client/gateway-client.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
import { loadSettings } from '../wiring/load-settings.js';
import { createEndings, type Endings } from './endings.js';
import { lockHome } from './home-lock.js';
import { listenForInterrupts } from './interrupts.js';
import { assertPortsFree } from './ports.js';
import { prepareTemporal } from './prepare-temporal.js';
import { startProcesses } from './start-processes.js';
import { tellOfEarlierFlows } from './tell-earlier-flows.js';
import { tellWhere } from './tell-where.js';
import { provideTemporalServer } from './temporal-server.js';

export interface UpOptions {
  /** End after the demo. */
  readonly once: boolean;
  readonly demo: boolean;
}

const FOR_EVER = new Promise<never>(() => undefined);

/** Everything on this machine: Temporal, sandbox, gateway, worker, and a demo; until somebody interrupts. */
export async function up(context: CliContext, options: UpOptions): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  const endings = createEndings();
  // What is still going on while everything ends must not be told as if it mattered.
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
  tellWhere(context, { settings, home, processes, temporalPid: server.pid() });

  const [token] = settings.gatewayTokens;
  const gateway = createGatewayClient({ url: gatewayUrl(settings), token: token?.secret ?? '', signal });
  await tellOfEarlierFlows(context, gateway);
  const { namespace } = temporal;
  const asExpected = options.demo ? await playDemo({ context, settings, namespace, processes, gateway }) : true;
  if (options.once) return asExpected ? EXIT.done : EXIT.refused;
  context.out(context.colors.dim('Ctrl-C ends it. The next start goes on from here.'));
  return FOR_EVER;
}
