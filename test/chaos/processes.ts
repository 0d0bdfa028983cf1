import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { findServerExecutable } from '../../src/dev-server/find-server.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { until } from '../harness/until.js';

/** A process of the product, as it is installed: `towline NAME`. The same one again after each kill. */
export interface Member {
  readonly name: string;
  readonly isUp: () => boolean;
  start(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it is frozen, including its sockets. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 90_000;

/** One of `towline`'s commands. */
export interface Command {
  readonly name: string;
  readonly command: string;
  /** The checkout whose `dist/` is run. */
  readonly product: string;
  /** Its whole environment: nothing of ours reaches it. */
  readonly env: Record<string, string>;
  readonly logFile: string;
}

export function towline({ name, command, product, env, logFile }: Command): Member {
  let child: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  let state: 'down' | 'starting' | 'ready' = 'down';
  let refused = '';
  const signal = (which: NodeJS.Signals): void => void child?.kill(which);
  const begin = (): void => {
    const log = openSync(logFile, 'a', 0o600);
    const started = spawn(process.execPath, [join(product, 'tools', 'towline.mjs'), command], {
      env,
      // It ends when its parent does, by the channel.
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    child = started;
    state = 'starting';
    started.on('message', (message: { kind: string; sentence?: string }) => {
      if (message.kind === 'ready') state = 'ready';
      else refused = message.sentence ?? 'refused';
    });
    gone = new Promise((resolve) => {
      started.once('exit', () => {
        state = 'down';
        resolve();
      });
    });
  };
  return {
    name,
    isUp: () => state === 'ready',
    async start() {
      begin();
      // Again and again, as a supervisor does: it may find Temporal killed, or its wire cut.
      const isReady = (): boolean => {
        if (state === 'down') begin();
        return state === 'ready';
      };
      await until(() => `${name} to be ready (${refused}; see ${logFile})`, isReady, READY_WITHIN_MS);
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

/** On its own port for good, with its state on disk. */
export async function temporalIn(
  folder: string,
  log: (line: string) => void,
): Promise<Member & { readonly port: number; readonly address: string }> {
  const { path: executable } = await findServerExecutable({ env: process.env, log });
  const port = await anyFreePort();
  let server: DevServer | undefined;
  const start = async (): Promise<void> => {
    server = await startDevServer({
      executable,
      home: folder,
      dbFile: join(folder, 'temporal.db'),
      port,
      uiPort: false,
      searchAttributes: SEARCH_ATTRIBUTES,
      log: () => undefined,
    });
  };
  await start();
  const signal = (name: NodeJS.Signals): void => {
    if (server !== undefined) process.kill(server.pid, name);
  };
  return {
    name: 'temporal',
    port,
    address: `127.0.0.1:${port}`,
    isUp: () => server !== undefined,
    start,
    async kill() {
      signal('SIGKILL');
      await server?.ended;
      server = undefined;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: async () => server?.stop(),
  };
}
