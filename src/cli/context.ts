import pc from 'picocolors';
import { readEnvironment, type Environment } from '../config/environment.js';
import { PERSONS_BY_DEFAULT } from '../protocol/four-eyes.js';
import { CliError, type ExitCode } from './exit-codes.js';

type Colors = ReturnType<typeof pc.createColors>;

/** What a command needs of its environment; tests replace it. */
export interface CliContext {
  readonly env: Environment;
  /** Names of it that a file `.env` of the working folder gave. */
  readonly fromFile?: ReadonlySet<string>;
  /** Prints a line to stdout: results. */
  readonly out: (line: string) => void;
  /** Prints a line to stderr: progress and errors. */
  readonly err: (line: string) => void;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
  readonly colors: Colors;
  /** Asks the person at the terminal yes or no. Absent if there is none: in scripts and pipes. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** All of stdin as text. */
  readonly stdin: () => Promise<string>;
}

export function processContext(): CliContext {
  const { env, fromFile } = readEnvironment();
  const isTerminal = process.stdout.isTTY;
  return {
    env,
    fromFile,
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    isTerminal,
    ...(isTerminal && process.stdin.isTTY ? { confirm: askAtTerminal } : {}),
    colors: pc.createColors(isTerminal && !env['NO_COLOR']),
    async stdin() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

async function askAtTerminal(message: string): Promise<boolean> {
  const { default: confirm } = await import('@inquirer/confirm');
  try {
    return await confirm({ message, default: false });
  } catch {
    // Ctrl-C counts as no.
    return false;
  }
}

/**
 * At a terminal, asks the person before an order that can end a flow or replaces proof.
 * @param of the flow or the event that the order is about
 * @throws CliError if the person says no
 */
export async function askBefore({ confirm }: CliContext, action: string, of: string): Promise<void> {
  const known = Object.entries(PERSONS_BY_DEFAULT).find(([name]) => name === action)?.[1];
  if (confirm === undefined || known?.persons !== 2) return;
  if (!(await confirm(`${action} ${known.why}. Order it for ${of}?`))) throw new CliError('Nothing was ordered.');
}

/** Runs the work of a command and keeps its exit code for the end. */
export type RunCommand = (work: () => Promise<ExitCode>) => Promise<void>;
