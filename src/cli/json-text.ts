import { readFile } from 'node:fs/promises';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';

/** JSON from a file, or from stdin for `-`: checked, and passed on as it was written, to the last digit of an amount. */
export async function jsonText(context: Pick<CliContext, 'stdin'>, file: string): Promise<string> {
  const text = file === '-' ? await context.stdin() : await read(file);
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new CliError(`${file === '-' ? 'What came on stdin' : file} is not JSON.`);
  }
}

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${file} cannot be read (${error.code ?? 'unknown error'}): name a JSON file, or - for stdin.`);
  });
}
