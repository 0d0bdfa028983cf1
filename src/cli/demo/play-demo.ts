import type { Settings } from '../../config/index.js';
import type { CliContext } from '../context.js';
import type { GatewayClient } from '../gateway-client.js';
import type { Processes } from '../up/start-processes.js';
import { uiLink, uiUrlOf } from '../wiring/temporal.js';
import { plainTable, type Row } from '../print.js';
import { type Played, playScene } from './play-scene.js';
import { createSandboxControl, type Executions } from './sandbox-control.js';
import { SCENES } from './scenes.js';
import { systemClock } from '../../clock.js';

export interface DemoDeps {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly namespace: string;
  readonly processes: Processes;
  readonly gateway: GatewayClient;
  /** Makes this run's references unique. @default the time in base 36 */
  readonly run?: string;
}

/**
 * Plays flows of every kind against the sandbox, side by side, and one by one those that affect other flows.
 * @returns whether each ended as expected
 */
export async function playDemo(deps: DemoDeps): Promise<boolean> {
  const { context, settings, namespace, processes, gateway, run = systemClock.nowMs().toString(36) } = deps;
  const { sandbox, worker } = processes;
  if (sandbox === undefined) {
    context.out('No demo: it needs the sandbox, and SERVICE_BASE_URL names another service.');
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
    say: (line: string) => context.out(`  ${line}`),
  };
  const play = async (scene: (typeof SCENES)[number]): Promise<Played> => {
    const played = await playScene(scene, `demo-${run}-${scene.name}`, playDeps);
    context.out(playedLine(context, played));
    return played;
  };

  context.out(context.colors.bold(`\nPlaying ${SCENES.length} flows, at least one of every kind`));
  const plays = await Promise.all(SCENES.filter(({ alone }) => !alone).map(play));
  for (const scene of SCENES.filter(({ alone }) => alone)) plays.push(await play(scene));

  const ui = uiUrlOf(settings);
  const linkTo = (flowId: string) => (ui === undefined ? undefined : uiLink(ui, namespace, flowId));
  const good = plays.filter(({ flaws }) => flaws.length === 0).length;
  context.out(`\n${playedTable(context, plays, linkTo)}\n${good} of ${plays.length} ended as expected`);
  return good === plays.length;
}

type Look = Pick<CliContext, 'colors'>;

/** One line for a scene that has just ended. */
function playedLine({ colors }: Look, played: Played): string {
  const { scene, flaws, tookMs } = played;
  const mark = flaws.length === 0 ? colors.green('✓') : colors.red('✗');
  const seconds = colors.dim(`(${(tookMs / 1_000).toFixed(1)} s)`);
  return [
    `${mark} ${scene.kind}: ${scene.title}: ${endingOf(played)} ${seconds}`,
    ...flaws.map((flaw) => `    ${flaw}`),
  ].join('\n');
}

/** What happened, flow by flow; the link on a line of its own, so that no terminal breaks it. */
function playedTable(
  { colors }: Look,
  plays: readonly Played[],
  linkTo: (flowId: string) => string | undefined,
): string {
  const head = ['kind', 'reference', 'ending', 'executed by the service'];
  const rows = plays.flatMap((played): Row[] => {
    const { scene, reference, executed, flaws, flowId } = played;
    const paint = flaws.length === 0 ? colors.green : colors.red;
    const link = linkTo(flowId);
    const below = [...flaws.map((flaw) => colors.red(flaw)), ...(link === undefined ? [] : [colors.dim(link)])];
    return [
      [scene.kind, reference, paint(endingOf(played)), inWords(executed)],
      ...below.map((line) => ({ below: line })),
    ];
  });
  return plainTable({ colors }, head, rows);
}

function endingOf({ state, flaws }: Played): string {
  return `${state ?? 'unknown'}, ${flaws.length === 0 ? 'as expected' : 'NOT as expected'}`;
}

function inWords(executed: Executions): string {
  const operations = Object.entries(executed).map(
    ([name, count]) => `${name} ${count === 1 ? 'once' : `${count} times`}`,
  );
  return operations.length === 0 ? '–' : operations.join(', ');
}
