import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

const graceMs = 10_000;

/** A process that ends when we stop it, or when we end in any way. */
export interface GuardedProcess {
  pid: number;
  /** Resolves, with its exit code or signal, when the process is gone. */
  ended: Promise<number | NodeJS.Signals>;
  /** Sends the signal, SIGKILL after ten seconds; resolves when the process is gone. @default SIGTERM */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a process that outlives Ctrl-C (which a terminal sends to all our children, while we still need the server to
 * drain) but not us: a watcher waits for the end of a pipe that only we hold open, so that even our SIGKILL ends it.
 * Not possible on Windows, which has no `sh`: there our SIGKILL leaves the process behind.
 */
export async function startGuarded(command: string, args: readonly string[], logFile: string): Promise<GuardedProcess> {
  const log = openSync(logFile, 'w', 0o600);
  const isWindows = process.platform === 'win32';
  const child = spawn(command, args, { stdio: ['ignore', log, log], detached: !isWindows });
  closeSync(log);
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1));
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid as number));
  });

  const watcher = isWindows ? undefined : watchFor(pid);
  const killOnExit = () => kill(child, 'SIGKILL');
  process.once('exit', killOnExit);
  child.once('exit', () => {
    process.removeListener('exit', killOnExit);
    watcher?.kill('SIGKILL');
  });
  // An error elsewhere must be able to end us although the server runs.
  child.unref();

  return {
    pid,
    ended,
    async stop(signal = 'SIGTERM') {
      child.ref();
      kill(child, signal);
      const force = setTimeout(() => kill(child, 'SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
  };
}

/** `read` returns when the pipe ends, which the system guarantees however we end. */
function watchFor(pid: number): ChildProcess {
  const script =
    'read -r _; kill -TERM "$1"; for s in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 "$1" || exit; done; kill -KILL "$1"';
  const watcher = spawn('sh', ['-c', script, 'towline-watcher', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => {});
  watcher.unref();
  // A pipe to a child is a socket, which would keep our event loop alive.
  (watcher.stdin as unknown as { unref(): void }).unref();
  return watcher;
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
}
