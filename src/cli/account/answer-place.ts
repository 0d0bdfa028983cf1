import { mkdir, open, unlink, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { withoutMark } from '../../readers/byte-order-mark.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { CliContext } from '../context.js';
import { isoTime, systemClock } from '../../clock.js';

export interface AnswerOptions {
  /** A file that does not exist yet. */
  readonly out?: string;
  readonly stdout?: boolean;
}

/** Where a secret answer goes. */
export interface AnswerPlace {
  /** @param as what it is, for people. @default the requested answer */
  write(text: string, as?: string): Promise<void>;
  /** There is no answer. */
  drop(): Promise<void>;
}

/**
 * Makes the place before the service is called, so that no answer is lost because it cannot be stored: a new file that
 * only its owner can read, or stdout, if requested.
 *
 * `what`, for people: "The API key"; `check`: what to check if the answer is lost after all.
 */
export async function answerPlace(
  context: CliContext,
  { out, stdout = false }: AnswerOptions,
  { home, name, what, check }: Record<'home' | 'name' | 'what' | 'check', string>,
): Promise<AnswerPlace> {
  if (stdout && out !== undefined) throw new CliError('Use --out or --stdout, not both: nothing was sent.');
  if (stdout) return { write: async (text) => context.out(text.trimEnd()), drop: async () => undefined };

  const path = resolve(out ?? join(home, 'account', `${name}-${timeForName()}`));
  if (out === undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(cannotBeMade(path));
  const file = await open(path, 'wx', 0o600).catch(cannotBeMade(path));
  return {
    async write(text, as = what) {
      try {
        await file.writeFile(text);
        await file.sync();
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
        throw new CliError(
          `The service did it, and its answer could not be written to ${path} (${code}). ${check}`,
          EXIT.parked,
        );
      } finally {
        await file.close();
      }
      context.out(`${as} is in ${path}, which only you can read.`);
    },
    async drop() {
      await file.close();
      await unlink(path).catch(() => undefined);
    },
  };
}

const cannotBeMade = (path: string) => (error: NodeJS.ErrnoException) => {
  const why = error.code === 'EEXIST' ? 'exists already' : `cannot be made (${error.code ?? 'unknown error'})`;
  throw new CliError(`${path} ${why}: name another file with --out. Nothing was sent.`);
};

/** 20261121T134037Z and milliseconds, so that the files of one folder sort by time. */
const timeForName = () => isoTime(systemClock).replaceAll(/[-:.]/g, '');

/**
 * The input of an account operation: a file, or stdin. Secrets never come by the command line, which others can see.
 */
export async function readInputText(context: CliContext, file: string): Promise<string> {
  const text = withoutMark(
    file === '-' ? await context.stdin() : await readFile(file, 'utf8').catch(cannotBeRead(file)),
  );
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

/** Undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const nameOf = (file: string) => (file === '-' ? 'The text on stdin' : file);

const cannotBeRead = (file: string) => (error: NodeJS.ErrnoException) => {
  throw new CliError(`${file} cannot be read (${error.code ?? 'unknown error'}): name a file, or - for stdin.`);
};
