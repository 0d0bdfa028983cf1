import { fork } from 'node:child_process';
import { once } from 'node:events';

const PATIENCE_MS = 10_000;

export interface Child {
  readonly pid: number;
  stop(): Promise<void>;
  /** As a crash ends it: it can finish nothing. */
  kill(): Promise<void>;
}

/** What a child process reports to its parent. */
type Report = { readonly kind: 'ready' } | { readonly kind: 'refused'; readonly sentence: string };

/**
 * Starts a Node program in a process of its own, so that its CPU is counted apart from ours, and waits until it is ready.
 * @throws Error that says why it is not
 */
export async function startChild(
  program: string,
  options: {
    readonly args?: readonly string[];
    readonly execArgv?: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly folder: string;
  },
): Promise<Child> {
  const { args = [], execArgv = [], env, folder } = options;
  const child = fork(program, args, {
    execArgv: [...execArgv],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    // stdout is for our table.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const gone = once(child, 'exit');
  const name = [program, ...args].join(' ');
  const [report] = (await Promise.race([
    once(child, 'message'),
    gone.then(([code]) => Promise.reject(new Error(`${name} ended at its start (${code})`))),
  ])) as [Report];
  if (report.kind === 'refused') throw new Error(`${name}: ${report.sentence}`);
  return {
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await gone;
      clearTimeout(force);
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
