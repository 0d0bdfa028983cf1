import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { Environment } from '../../config/index.js';
import { lastLines } from '../../dev-server/run-command.js';
import { CliError } from '../exit-codes.js';
import type { ChildMessage, ProcessName } from '../run-process.js';

export interface ChildOptions {
  readonly name: ProcessName;
  readonly env: Environment;
  readonly logFile: string;
  /** How long it may take to end before it is killed. */
  readonly graceMs: number;
}

export interface Child {
  readonly pid: number;
  /** Resolves when it says that it is ready. @throws CliError if it refused, or ended before */
  readonly ready: Promise<void>;
  /** Resolves, with its exit code or signal, when it is gone. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Asks it to end, and kills it if it does not; resolves when it is gone. */
  stop(): Promise<void>;
  kill(): void;
}

const main = fileURLToPath(new URL('../main.js', import.meta.url));

/**
 * Starts one of our processes. It has a process group of its own, so that a terminal's Ctrl-C does not reach it: we end
 * it in our order. It ends itself when the IPC channel closes, so even our SIGKILL does not leave it behind.
 */
export function startChild({ name, env, logFile, graceMs }: ChildOptions): Child {
  const log = openLog(logFile);
  const child = fork(main, [name], {
    env: { ...env },
    execArgv: ['--enable-source-maps'],
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    detached: process.platform !== 'win32',
  });
  log.close();
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1));
    // It did not start at all, so there is no exit.
    child.once('error', () => resolve(1));
  });
  const ready = readiness(child, name, ended, logFile);
  // A caller that does not wait for it sees the end through `ended`.
  ready.catch(() => undefined);

  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function readiness(child: ChildProcess, name: string, ended: Child['ended'], logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let refusal: string | undefined;
    child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') resolve();
      else refusal = message.sentence;
    });
    const refuse = (how: number | NodeJS.Signals) => {
      const end = `The ${name} ended at its start (${how}). The end of its log, ${logFile}:\n${endOfLog(logFile)}`;
      reject(new CliError(refusal ?? end));
    };
    void ended.then(refuse);
  });
}

const LARGE_BYTES = 10 * 1_024 * 1_024;

/** Opens a log to append to. A large one is renamed first; the previous renamed one is deleted. */
function openLog(path: string): { readonly fd: number; close(): void } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_BYTES) renameSync(path, `${path}.old`);
  const fd = openSync(path, 'a', 0o600);
  return { fd, close: () => closeSync(fd) };
}

function endOfLog(path: string): string {
  try {
    return lastLines(readFileSync(path, 'utf8'), 5);
  } catch {
    return '(no log)';
  }
}
