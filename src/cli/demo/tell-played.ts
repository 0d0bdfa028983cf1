import type { CliContext } from '../context.js';
import { plainTable, type Row } from '../view/plain-table.js';
import type { Played } from './play-scene.js';

type Look = Pick<CliContext, 'colors'>;

/** One line for a scene that has just ended. */
export function playedLine({ colors }: Look, played: Played): string {
  const { scene, flaws, tookMs } = played;
  const mark = flaws.length === 0 ? colors.green('✓') : colors.red('✗');
  const seconds = colors.dim(`(${(tookMs / 1_000).toFixed(1)} s)`);
  return [`${mark} ${scene.title}: ${endingOf(played)} ${seconds}`, ...flaws.map((flaw) => `    ${flaw}`)].join('\n');
}

/** What happened, flow by flow; the link on a line of its own, so that no terminal breaks it. */
export function playedTable(
  { colors }: Look,
  plays: readonly Played[],
  linkTo: (flowId: string) => string | undefined,
): string {
  const head = ['scene', 'reference', 'ending', 'deposit executed', 'our refund executed'];
  const rows = plays.flatMap((played): Row[] => {
    const { scene, reference, deposits, refunds, flaws, flowId } = played;
    const paint = flaws.length === 0 ? colors.green : colors.red;
    const link = linkTo(flowId);
    const below = [...flaws.map((flaw) => colors.red(flaw)), ...(link === undefined ? [] : [colors.dim(link)])];
    return [
      [scene.name, reference, paint(endingOf(played)), times(deposits), times(refunds)],
      ...below.map((line) => ({ below: line })),
    ];
  });
  return plainTable({ colors }, head, rows);
}

function endingOf({ state, flaws }: Played): string {
  return `${state ?? 'unknown'}, ${flaws.length === 0 ? 'as expected' : 'NOT as expected'}`;
}

function times(count: number): string {
  return count === 0 ? '–' : count === 1 ? 'once' : `${count} times`;
}
