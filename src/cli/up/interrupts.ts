/** How often somebody asked `towline up` to end, by Ctrl-C or a signal. */
export interface Interrupts {
  /** Resolves at the first: end in order. */
  readonly first: Promise<NodeJS.Signals>;
  /** Resolves at the second: end at once. */
  readonly second: Promise<void>;
  /** Aborted at the first. */
  readonly signal: AbortSignal;
}

export function listenForInterrupts(): Interrupts {
  let count = 0;
  const asked = new AbortController();
  let first: (signal: NodeJS.Signals) => void = () => undefined;
  let second: () => void = () => undefined;
  const interrupts = {
    first: new Promise<NodeJS.Signals>((resolve) => (first = resolve)),
    second: new Promise<void>((resolve) => (second = resolve)),
    signal: asked.signal,
  };
  const hear = (signal: NodeJS.Signals) => {
    count += 1;
    if (count === 1) {
      asked.abort();
      first(signal);
    } else if (count === 2) second();
    else process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear);
  // Who read our output is gone (`npm start | head`): nobody sees us any more.
  process.stdout.on('error', () => hear('SIGHUP'));
  return interrupts;
}
