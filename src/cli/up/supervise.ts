import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type ChildOptions, startChild } from './child.js';
import { createGate } from './gate.js';

export interface Supervised {
  readonly name: string;
  pid(): number;
  /** Resolves when it is ready; after a death, when it is ready again. @throws CliError where its first start fails */
  untilReady(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
  /** Ends it for good, at once. */
  stopNow(): Promise<void>;
  /** Kills the process, which is then started again like any that died. */
  crash(): void;
}

export interface SuperviseDeps {
  readonly say: (line: string) => void;
  /** Asks the process whether it can do its work, until it can or the signal is aborted. */
  readonly untilItWorks: (child: Child, signal: AbortSignal) => Promise<void>;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** Who lived that long and then died is started again as if for the first time. */
const STABLE_MS = 60_000;

/** Keeps one of our processes running: one that dies is started again, later and later. */
export function supervise(options: ChildOptions, { say, untilItWorks }: SuperviseDeps): Supervised {
  const { name } = options;
  const stopping = new AbortController();
  const gate = createGate();
  let child = startChild(options);
  const over = keepRunning();

  async function keepRunning(): Promise<void> {
    let wasReady = false;
    for (let deaths = 0; ;) {
      const bornAtMs = performance.now();
      wasReady = (await openGate(child, wasReady)) || wasReady;
      const how = await child.ended;
      if (stopping.signal.aborted || !wasReady) return;
      gate.close();
      deaths = performance.now() - bornAtMs > STABLE_MS ? 1 : deaths + 1;
      const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (deaths - 1));
      const soon = delayMs < 1_000 ? '' : ` in ${delayMs / 1_000} s`;
      say(`the ${name} (process ${child.pid}) ended unexpectedly (${how}): starting it again${soon}`);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = startChild(options);
      say(`the ${name} runs again, as process ${child.pid}`);
    }
  }

  /** True when it became ready before it ended. */
  async function openGate(started: Child, isRestart: boolean): Promise<boolean> {
    const gone = new AbortController();
    void started.ended.then(() => gone.abort());
    try {
      await started.ready;
      await untilItWorks(started, gone.signal);
      if (gone.signal.aborted) return false;
      gate.open();
      return true;
    } catch (error) {
      if (!isRestart) gate.refuse(error);
      return false;
    }
  }

  return {
    name,
    pid: () => child.pid,
    untilReady: () => gate.pass(),
    async stop() {
      stopping.abort();
      await child.stop();
      await over;
    },
    async stopNow() {
      stopping.abort();
      child.kill();
      await child.ended;
    },
    crash() {
      gate.close();
      child.kill();
    },
  };
}
