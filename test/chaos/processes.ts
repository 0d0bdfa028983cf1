import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { until } from '../harness/until.js';

/** A process of the product, as it is installed: `towline NAME`. The same one again after each kill. */
export interface Member {
  readonly name: string;
  readonly isUp: () => boolean;
  start(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it stands still, sockets and all. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 90_000;

/** @param env all of its environment: nothing of ours reaches it */
export function towline(name: string, command: string, env: Record<string, string>, logFile: string): Member {
  let child: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  let isReady = false;
  const signal = (which: NodeJS.Signals): void => void child?.kill(which);
  return {
    name,
    isUp: () => isReady,
    async start() {
      const log = openSync(logFile, 'a', 0o600);
      const started = spawn(process.execPath, [join(packageRoot(), 'tools', 'towline.mjs'), command], {
        env,
        // It ends when its parent does, by the channel.
        stdio: ['ignore', log, log, 'ipc'],
      });
      closeSync(log);
      child = started;
      let refused = '';
      started.on('message', (message: { kind: string; sentence?: string }) => {
        if (message.kind === 'ready') isReady = true;
        else refused = message.sentence ?? 'refused';
      });
      let hasEnded = false;
      gone = new Promise((resolve) => {
        started.once('exit', () => {
          hasEnded = true;
          isReady = false;
          resolve();
        });
      });
      await until(
        `${name} to be ready`,
        () => {
          if (hasEnded && !isReady) throw new Error(`${name} ended at its start: ${refused}; see ${logFile}`);
          return isReady;
        },
        READY_WITHIN_MS,
      );
    },
    async kill() {
      signal('SIGKILL');
      await gone;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      signal('SIGCONT');
      signal('SIGTERM');
      const force = setTimeout(() => signal('SIGKILL'), 60_000);
      await gone;
      clearTimeout(force);
    },
  };
}
