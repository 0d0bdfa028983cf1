import Table from 'cli-table3';
import type { CliContext } from '../context.js';

export type Row = readonly string[] | { readonly below: string };

/** A table without lines, its head in bold. `below`: one long line under a row, which no column breaks. */
export function plainTable(
  { colors }: Pick<CliContext, 'colors'>,
  head: readonly string[],
  rows: readonly Row[],
): string {
  const table = new Table({ chars: NO_LINES, style: { 'padding-left': 0, 'padding-right': 2, head: [], border: [] } });
  table.push(head.map((word) => colors.bold(word)));
  for (const row of rows) {
    if ('below' in row) table.push([{ colSpan: head.length, content: `  ${row.below}` }]);
    else table.push([...row]);
  }
  return table.toString().replaceAll(/ +$/gm, '');
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
