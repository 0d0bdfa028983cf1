import { defaultGrpcRetryOptions, type ConnectionOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The client's own retries, but such that a connection can be closed while Temporal is down: a retry that fires on a closed
 * channel throws inside a timer, where nobody can catch it, and takes the process with it.
 */
export interface Retries {
  readonly interceptors: NonNullable<ConnectionOptions['interceptors']>;
  /** No retry is begun any more; resolves when none is waiting. The connection may be closed then. */
  end(): Promise<void>;
}

const LONGEST_PAUSE_MS = 1_000;
const FIRED_AFTER_MS = 20;

export function createRetries(): Retries {
  const defaults = defaultGrpcRetryOptions();
  let ended = false;
  let lastFiresAtMs = 0;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !ended && defaults.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = Math.min(LONGEST_PAUSE_MS, defaults.delayFunction(attempt, status));
      lastFiresAtMs = Math.max(lastFiresAtMs, performance.now() + delayMs + FIRED_AFTER_MS);
      return delayMs;
    },
  });
  return {
    interceptors: [interceptor],
    async end() {
      ended = true;
      const leftMs = lastFiresAtMs - performance.now();
      if (leftMs > 0) await sleep(leftMs);
    },
  };
}
