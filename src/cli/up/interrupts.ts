/** How often `towline up` was asked to end, by Ctrl-C or a signal. */
export interface Interrupts {
  /** Resolves at the first: end in order. */
  readonly first: Promise<NodeJS.Signals>;
  /** Resolves at the second: end at once. */
  readonly second: Promise<void>;
  /** Aborted at the first. */
  readonly signal: AbortSignal;
  /** Everything has ended: signals have their default effect again. */
  stopListening(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function listenForInterrupts(): Interrupts {
  let count = 0;
  const asked = new AbortController();
  let first: (signal: NodeJS.Signals) => void = () => undefined;
  let second: () => void = () => undefined;
  const interrupts: Interrupts = {
    first: new Promise<NodeJS.Signals>((resolve) => (first = resolve)),
    second: new Promise<void>((resolve) => (second = resolve)),
    signal: asked.signal,
    stopListening() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdout.off('error', outputIsGone);
    },
  };
  const onSignal = (signal: NodeJS.Signals) => {
    count += 1;
    if (count === 1) {
      asked.abort();
      first(signal);
    } else if (count === 2) second();
    else process.exit(130);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // The reader of our output is gone (`npm start | head`), so further output cannot be seen.
  const outputIsGone = () => onSignal('SIGHUP');
  process.stdout.on('error', outputIsGone);
  return interrupts;
}

/** Something that was started and must be ended. */
interface Ending {
  /** Finishes what is in flight. */
  readonly stop: () => Promise<void>;
  readonly stopNow: () => Promise<void>;
}

export interface Endings {
  add(ending: Ending): void;
  /** Ends everything, the latest first. Entries that are added meanwhile are ended as well. */
  stopAll(): Promise<void>;
  stopAllNow(): Promise<void>;
}

/** Remembers what to end, and in which order: a later process uses the earlier ones. */
export function createEndings(): Endings {
  const started: Ending[] = [];
  let isEnding = false;

  return {
    add(ending) {
      started.push(ending);
      if (isEnding) void ending.stopNow();
    },
    async stopAll() {
      isEnding = true;
      for (let ending = started.at(-1); ending !== undefined; ending = started.at(-1)) {
        await ending.stop();
        started.splice(started.lastIndexOf(ending), 1);
      }
    },
    async stopAllNow() {
      isEnding = true;
      await Promise.all(started.map((ending) => ending.stopNow()));
    },
  };
}
