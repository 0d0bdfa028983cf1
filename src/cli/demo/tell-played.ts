import type { CliContext } from '../context.js';
import { plainTable, type Row } from '../view/plain-table.js';
import type { Played } from './play-scene.js';
import type { Executions } from './scene.js';

type Look = Pick<CliContext, 'colors'>;

/** One line for a scene that has just ended. */
export function playedLine({ colors }: Look, played: Played): string {
  const { scene, flaws, tookMs } = played;
  const mark = flaws.length === 0 ? colors.green('✓') : colors.red('✗');
  const seconds = colors.dim(`(${(tookMs / 1_000).toFixed(1)} s)`);
  return [
    `${mark} ${scene.kind}: ${scene.title}: ${endingOf(played)} ${seconds}`,
    ...flaws.map((flaw) => `    ${flaw}`),
  ].join('\n');
}

/** What happened, flow by flow; the link on a line of its own, so that no terminal breaks it. */
export function playedTable(
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
