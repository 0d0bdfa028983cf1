import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { createDrain } from '../../src/gateway/dispatch/drain.js';
import { settled, virtualClock } from './setup/virtual-clock.js';

/** A drain of a client that records the signals of its calls. */
function drained() {
  const signals: AbortSignal[] = [];
  const time = virtualClock();
  const connection = {
    withAbortSignal: <T>(signal: AbortSignal, calls: () => Promise<T>) => {
      signals.push(signal);
      return calls();
    },
  };
  const drain = createDrain({ connection } as unknown as Client, time.clock);
  return { drain, signals, ...time };
}
const never = new Promise<never>(() => undefined);

describe('calls to Temporal when the gateway stops', () => {
  it('have a signal of their own each, and give their result', async () => {
    const { drain, signals } = drained();
    expect(await drain.within(() => Promise.resolve('a'))).toBe('a');
    await expect(drain.within(() => Promise.reject(new Error('b')))).rejects.toThrow('b');
    expect(signals).toHaveLength(2);
    expect(signals[0]).not.toBe(signals[1]);
  });

  it('are awaited for a second, and then aborted', async () => {
    const { drain, signals, pass } = drained();
    void drain.within(() => never);
    let isFinished = false;
    const finished = drain.finish(never).then(() => (isFinished = true));
    await pass(999);
    await settled();
    expect([isFinished, signals[0]?.aborted]).toEqual([false, false]);
    await pass(1);
    await finished;
    expect(signals[0]?.aborted).toBe(true);
  });

  it('are not awaited longer than they take, and those that are over are not aborted', async () => {
    const { drain, signals, clock } = drained();
    let timers = 0;
    const counting = createDrain(
      { connection: { withAbortSignal: (_: unknown, calls: () => unknown) => calls() } } as never,
      {
        ...clock,
        after(ms, work) {
          timers += 1;
          const stop = clock.after(ms, work);
          return () => {
            timers -= 1;
            stop();
          };
        },
      },
    );
    await drain.within(() => Promise.resolve());
    await drain.finish(Promise.resolve());
    expect(signals[0]?.aborted).toBe(false);
    await counting.finish(undefined);
    expect(timers).toBe(0);
  });

  it('are awaited until they end, if that is within the second', async () => {
    const { drain, pass } = drained();
    let end = (): void => undefined;
    const call = new Promise<void>((resolve) => (end = resolve));
    let isFinished = false;
    const finished = drain.finish(call).then(() => (isFinished = true));
    await pass(500);
    expect(isFinished).toBe(false);
    end();
    await finished;
  });
});
