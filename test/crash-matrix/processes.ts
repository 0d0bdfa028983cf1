import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../harness/until.js';
import type { Order } from './child.js';
import type { Hold, Said } from './crash-points.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXEC_ARGV = ['--no-warnings', '--import', './tools/typescript.mjs'];

/** A process of the product, and what a test can do to it. */
export interface ProcessUnderTest {
  readonly pid: number;
  /** Its URL, if it listens. */
  readonly url: string;
  /** References that are held there now, or were when it died. */
  heldAt(hold: Hold): readonly string[];
  /** References whose claim gave this answer to the step: `reserve` with `sending`. */
  claimed(step: 'reserve', as: string): readonly string[];
  /** Waits until this many references are held there. */
  untilHeld(hold: Hold, count: number, withinMs?: number): Promise<void>;
  order(order: Order): void;
  /** SIGSTOP: it sleeps, sockets and all. */
  stop(): void;
  /** SIGCONT. */
  wake(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts one of the child files and waits until it is ready. */
export async function startProcess(
  file: 'worker-child.ts' | 'gateway-child.ts',
  config: unknown,
): Promise<ProcessUnderTest> {
  const child = fork(`test/crash-matrix/${file}`, [JSON.stringify(config)], { cwd: ROOT, execArgv: EXEC_ARGV });
  const said: Said[] = [];
  child.on('message', (message) => void said.push(message as Said));
  const over = { ended: false };
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      over.ended = true;
      resolve(signal ?? code ?? -1);
    });
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} could not be started`);
  const signal = (name: NodeJS.Signals): void => {
    if (!over.ended) process.kill(pid, name);
  };

  const ready = await until(
    `${file} to be ready`,
    () => {
      if (over.ended) throw new Error(`${file} ended at its start`);
      return said.find((message) => message.kind === 'ready');
    },
    60_000,
  ).catch((error: unknown) => {
    signal('SIGKILL');
    throw error;
  });
  const heldAt = (hold: Hold) =>
    said.flatMap((message) =>
      message.kind === 'held' &&
      message.hold.moment === hold.moment &&
      message.hold.step === hold.step &&
      message.hold.word === hold.word
        ? [message.reference]
        : [],
    );
  return {
    pid,
    url: (ready.kind === 'ready' ? ready.url : undefined) ?? '',
    ended,
    heldAt,
    claimed: (step, as) =>
      said.flatMap((message) =>
        message.kind === 'claim' && message.step === step && message.as === as ? [message.reference] : [],
      ),
    async untilHeld(hold, count, withinMs = 60_000) {
      const what = () => `${count} held ${hold.moment} ${hold.step} (${heldAt(hold).length} are)`;
      await until(what(), () => heldAt(hold).length >= count, withinMs).catch(() => {
        throw new Error(`waited in vain for ${what()}`);
      });
    },
    order: (order) => void child.send(order),
    stop: () => signal('SIGSTOP'),
    wake: () => signal('SIGCONT'),
    async kill() {
      signal('SIGKILL');
      await ended;
    },
  };
}
