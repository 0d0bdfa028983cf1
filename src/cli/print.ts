import { readFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { FlowState } from '../protocol/vocabulary.js';
import { withoutMark } from '../readers/byte-order-mark.js';
import type { CliContext } from './context.js';
import { CliError } from './exit-codes.js';

export interface PrintOptions {
  /** For machines. */
  readonly json?: boolean;
}

/** Prints an answer: as JSON if requested, else as text for a person. */
export function print<T>(
  context: CliContext,
  { json = false }: PrintOptions,
  answer: T,
  text: (answer: T) => string,
): void {
  const shown = printable(answer);
  context.out(json ? JSON.stringify(shown, null, 2) : text(shown));
}

/** Control characters except line breaks and tabs, and characters that change the text direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * The same, with each character that a terminal would interpret as its escape: notes and events may contain anything.
 */
export function printable<T>(answer: T): T {
  if (typeof answer === 'string') {
    return answer.replaceAll(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`) as T;
  }
  if (Array.isArray(answer)) return answer.map(printable) as T;
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [printable(name), printable(value)])) as T;
}

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

/** A state in the colour for its urgency. */
export function paintedState({ colors }: Pick<CliContext, 'colors'>, state: FlowState): string {
  switch (state) {
    case 'completed':
    case 'refunded':
      return colors.green(state);
    case 'parked':
      return colors.yellow(state);
    case 'failed':
    case 'expired':
    case 'cancelled':
      return colors.red(state);
    case 'running':
      return colors.cyan(state);
    default:
      return state satisfies never;
  }
}

/** JSON from a file, or from stdin for `-`: checked, and passed on as it is, to the last digit of an amount. */
export async function jsonText(context: Pick<CliContext, 'stdin'>, file: string): Promise<string> {
  const text = withoutMark(file === '-' ? await context.stdin() : await read(file));
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new CliError(`${file === '-' ? 'The text on stdin' : file} is not JSON.`);
  }
}

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${file} cannot be read (${error.code ?? 'unknown error'}): name a JSON file, or - for stdin.`);
  });
}
