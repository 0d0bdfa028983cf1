import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { queueState } from '../../temporal/pollers.js';
import type { Child } from './child.js';
import { growingPauseMs } from '../../clock.js';
import { callWithin } from '../../temporal/call-within.js';

export interface Supervised {
  readonly name: string;
  pid(): number;
  /** Resolves when it is ready; after a death, when it is ready again. @throws CliError if its first start fails */
  untilReady(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
  /** Ends it for good, at once. */
  stopNow(): Promise<void>;
  /** Kills the process, which is then started again like any that died. */
  crash(): void;
}

export interface SuperviseOptions {
  /** For messages. */
  readonly name: string;
  readonly start: () => Child;
  readonly say: (line: string) => void;
  /** Asks the process whether it can do its work, until it can or the signal is aborted. */
  readonly untilItWorks?: (child: Child, signal: AbortSignal) => Promise<void>;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** A process that lived this long and then died is restarted as if for the first time. */
const STABLE_MS = 60_000;

/** Keeps a process running: if it dies, it is restarted, after growing pauses. */
export function supervise({ name, start, say, untilItWorks }: SuperviseOptions): Supervised {
  const stopping = new AbortController();
  const gate = createGate();
  let child = start();
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
      const delayMs = growingPauseMs(FIRST_DELAY_MS, LONGEST_DELAY_MS, deaths - 1);
      const soon = delayMs < 1_000 ? '' : ` in ${delayMs / 1_000} s`;
      const which = child.pid === 0 ? '' : ` (process ${child.pid})`;
      say(`the ${name}${which} ended unexpectedly (${how}): starting it again${soon}`);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = start();
    }
  }

  /** True when it became ready before it ended. */
  async function openGate(started: Child, isRestart: boolean): Promise<boolean> {
    const gone = new AbortController();
    void started.ended.then(() => gone.abort());
    try {
      await started.ready;
      if (isRestart) say(`the ${name} runs again, as process ${started.pid}`);
      await untilItWorks?.(started, gone.signal);
      if (gone.signal.aborted) return false;
      gate.open();
      return true;
    } catch (error) {
      if (isRestart) say((error as Error).message);
      else gate.refuse(error);
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

/** A wait that can be opened, refused, or closed again. */
interface Gate {
  /** Resolves when it is open. */
  pass(): Promise<void>;
  open(): void;
  refuse(error: unknown): void;
  close(): void;
}

function createGate(): Gate {
  let open: () => void;
  let refuse: (error: unknown) => void;
  let passing: Promise<void>;
  let isPending: boolean;
  const close = () => {
    if (isPending) return;
    isPending = true;
    passing = new Promise<void>((resolve, reject) => {
      open = resolve;
      refuse = reject;
    });
    // It may never be awaited.
    passing.catch(() => undefined);
  };
  isPending = false;
  close();
  return {
    pass: () => passing,
    open() {
      isPending = false;
      open();
    },
    refuse(error) {
      isPending = false;
      refuse(error);
    },
    close,
  };
}

const PAUSE_MS = 50;
const ANSWER_WITHIN_MS = 5_000;

/** Polls an address until it answers with a 2xx; returns early when the signal is aborted. */
export async function untilItAnswers(url: string, signal: AbortSignal): Promise<void> {
  await untilTrue(signal, async () => (await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })).ok);
}

/** Polls Temporal until the worker with this identity takes tasks. */
export async function untilItPolls(
  temporal: { readonly client: Client; readonly namespace: string },
  identity: string,
  signal: AbortSignal,
): Promise<void> {
  await untilTrue(signal, async () => {
    const { pollers } = await callWithin(temporal.client, ANSWER_WITHIN_MS, () => queueState(temporal, 'flows'));
    return pollers.some((poller) => poller.identity === identity);
  });
}

async function untilTrue(signal: AbortSignal, ask: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await ask().catch(() => false)) return;
    await sleep(PAUSE_MS);
  }
}
