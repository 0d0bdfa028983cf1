import { spawn } from 'node:child_process';

/** The environment variables of a process. They are passed in, because `config` alone reads `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Takes one progress line for the user. */
export type Log = (line: string) => void;

export interface CommandResult {
  /** Exit code; undefined when the command was not found or was ended by a signal. */
  code: number | undefined;
  /** What it wrote to stdout and stderr, in the order it came. */
  output: string;
  notFound: boolean;
}

export interface CommandOptions {
  cwd?: string;
  env?: Environment;
  /** Ends the command. */
  signal?: AbortSignal;
}

/** Runs a command to its end. Never rejects: a failure is a result, and the caller writes the error. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
      killSignal: 'SIGKILL',
    });
    const finish = (code: number | null, notFound: boolean) =>
      resolve({ code: code ?? undefined, output: Buffer.concat(chunks).toString('utf8'), notFound });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error: NodeJS.ErrnoException) => finish(null, error.code === 'ENOENT'));
    child.on('close', (code) => finish(code, false));
  });
}

/** The last lines of an output, to show under an error. */
export function lastLines(output: string, count = 10): string {
  return output.trimEnd().split('\n').slice(-count).join('\n');
}
