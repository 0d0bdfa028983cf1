import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { systemClock, type Clock } from '../../clock.js';

const GRACE_MS = 1_000;

/** Calls to Temporal that a shutdown need not wait for: the undelivered events stay in the inbox. */
export interface Drain {
  /** Runs calls that `finish` may cut off. */
  readonly within: <T>(calls: () => Promise<T>) => Promise<T>;
  /** Waits for what is in flight, and aborts it when the time is up. */
  finish(inFlight: Promise<unknown> | undefined): Promise<void>;
}

export function createDrain(client: Client, clock: Clock = systemClock): Drain {
  const open = new Set<AbortController>();
  return {
    async within(calls) {
      // A signal of their own: the connection never removes the listener of a call from its signal, and searches all of
      // them to add the next. A signal for the gateway's whole life would hold every call that it ever made.
      const own = new AbortController();
      setMaxListeners(0, own.signal);
      open.add(own);
      try {
        return await client.connection.withAbortSignal(own.signal, calls);
      } finally {
        open.delete(own);
      }
    },
    async finish(inFlight) {
      let stopTimer: (() => void) | undefined;
      const timeIsUp = new Promise<void>((resolve) => {
        stopTimer = clock.after(GRACE_MS, resolve);
      });
      // A client that still tries to connect gets no abort, so it is not awaited.
      await Promise.race([inFlight, timeIsUp]);
      stopTimer?.();
      for (const calls of open) calls.abort();
    },
  };
}
