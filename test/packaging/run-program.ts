import { spawn, type ChildProcess } from 'node:child_process';

export interface RunOptions {
  readonly cwd: string;
  /** In addition to PATH and HOME. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process, and with its output so far each time there is more. */
  readonly watch?: (child: ChildProcess, out: string) => void;
}

export interface Ended {
  /** Undefined if a signal ended it, as `all` then says. */
  readonly code: number | undefined;
  readonly out: string;
  /** Both streams, to find out what went wrong. */
  readonly all: string;
}

/** Runs a program to its end. */
export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, { cwd: options.cwd, env: { PATH, HOME, ...options.env } });
  return new Promise((resolve, reject) => {
    let out = '';
    let all = '';
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
      all += text.toString();
      options.watch?.(child, out);
    });
    child.stderr.on('data', (text: Buffer) => (all += text.toString()));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const how = signal === null ? '' : `\n(ended by ${signal})`;
      resolve({ code: code ?? undefined, out, all: all + how });
    });
  });
}

/** @throws Error with its output if it fails */
export async function mustRun(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, out, all } = await runProgram(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${all}`);
  return out;
}
