import type { Settings } from '../../config/index.js';
import type { CliContext } from '../context.js';
import type { GatewayClient } from '../gateway-client/gateway-client.js';
import { type Processes } from '../up/start-processes.js';
import { uiLink, uiUrlOf } from '../wiring/temporal-ui.js';
import { type Played, playScene } from './play-scene.js';
import { createSandboxControl } from './sandbox-control.js';
import { SCENES } from './scenes.js';
import { playedLine, playedTable } from './tell-played.js';

export interface DemoDeps {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly namespace: string;
  readonly processes: Processes;
  readonly gateway: GatewayClient;
  /** Makes this run's references its own. @default the time in base 36 */
  readonly run?: string;
}

/**
 * Plays flows of every kind against the sandbox, side by side, and those that take something away from everybody one by one.
 * @returns whether each ended as expected
 */
export async function playDemo(deps: DemoDeps): Promise<boolean> {
  const { context, settings, namespace, processes, gateway, run = Date.now().toString(36) } = deps;
  const { sandbox, worker } = processes;
  if (sandbox === undefined) {
    context.out('No demo: it plays with the sandbox alone, and SERVICE_BASE_URL names another service.');
    return true;
  }
  const killWorker = async () => {
    worker.crash();
    await worker.untilReady();
  };
  const playDeps = {
    gateway,
    sandbox: createSandboxControl(settings.serviceBaseUrl),
    killWorker,
    tell: (line: string) => context.out(`  ${line}`),
  };
  const play = async (scene: (typeof SCENES)[number]): Promise<Played> => {
    const played = await playScene(scene, `demo-${run}-${scene.name}`, playDeps);
    context.out(playedLine(context, played));
    return played;
  };

  context.out(context.colors.bold(`\nPlaying ${SCENES.length} flows, of every kind one at least`));
  const plays = await Promise.all(SCENES.filter(({ alone }) => !alone).map(play));
  for (const scene of SCENES.filter(({ alone }) => alone)) plays.push(await play(scene));

  const ui = uiUrlOf(settings);
  const linkTo = (flowId: string) => (ui === undefined ? undefined : uiLink(ui, namespace, flowId));
  const good = plays.filter(({ flaws }) => flaws.length === 0).length;
  context.out(`\n${playedTable(context, plays, linkTo)}\n${good} of ${plays.length} ended as expected`);
  return good === plays.length;
}
