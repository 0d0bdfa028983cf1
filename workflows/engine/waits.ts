import { CancellationScope, condition } from '@temporalio/workflow';

/*
 * No wait may keep a flow for ever. Each wait ends at the flow's deadline or after a time of its own:
 * test/architecture/waits.test.ts finds all of them.
 */

export interface Observed<T> {
  readonly promise: Promise<T>;
  readonly settled: () => boolean;
  readonly cancel: () => void;
}

/** A step under its own scope, whose end can be seen by a condition. */
export function observed<T>(step: () => Promise<T>): Observed<T> {
  const scope = new CancellationScope();
  const state = { settled: false };
  const promise = scope.run(step);
  const mark = () => {
    state.settled = true;
  };
  promise.then(mark, mark);
  return { promise, settled: () => state.settled, cancel: () => scope.cancel() };
}

/** A single call to store or service belongs to the network, which does not scale. */
export const AT_LEAST_MS = 15_000;

/**
 * The step's result, or undefined if it took longer than `ms` or `isOver` became true first; then the step is
 * cancelled.
 *
 * @param ms before scaling
 */
export async function within<T>(
  flow: { readonly scaled: (ms: number) => number },
  ms: number,
  step: () => Promise<T>,
  isOver: () => boolean = () => false,
): Promise<T | undefined> {
  const running = observed(step);
  await condition(() => running.settled() || isOver(), Math.max(AT_LEAST_MS, flow.scaled(ms)));
  if (running.settled()) return running.promise;
  running.cancel();
  return undefined;
}
