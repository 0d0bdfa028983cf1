import { readFile } from 'node:fs/promises';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';

/** What an account operation is given: a file, or stdin. Secrets never come by the command line, which others can see. */
export async function readInputText(context: CliContext, file: string): Promise<string> {
  const text = file === '-' ? await context.stdin() : await readFile(file, 'utf8').catch(cannotBeRead(file));
  if (text.trim() === '') throw new CliError(`${nameOf(file)} is empty: nothing was sent.`);
  return text;
}

export async function readInputJson(context: CliContext, file: string): Promise<Readonly<Record<string, unknown>>> {
  const value = parsed(await readInputText(context, file));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CliError(`${nameOf(file)} is not a JSON object: nothing was sent.`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Undefined for what is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const nameOf = (file: string) => (file === '-' ? 'What came on stdin' : file);

const cannotBeRead = (file: string) => (error: NodeJS.ErrnoException) => {
  throw new CliError(`${file} cannot be read (${error.code ?? 'unknown error'}): name a file, or - for stdin.`);
};
