import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError, UnreachableError } from './errors.js';

export interface RepeatOptions {
  /** How long to go on after the first failure. */
  readonly forMs: number;
  /** Asking twice is as good as asking once: a read, or what the gateway does once for one reference. */
  readonly isSafe: boolean;
  readonly signals: readonly AbortSignal[];
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** Statuses after which another try may do better. A 500 is a fault that would only repeat itself. */
const PASSING = [408, 429, 502, 503, 504];

/** Asks again, with pauses that grow, for as long as that is safe and may help. @throws the last error */
export async function repeat<T>(ask: () => Promise<T>, { forMs, isSafe, signals }: RepeatOptions): Promise<T> {
  let givesUpAtMs: number | undefined;
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!mayHelp(error, isSafe)) throw error;
      givesUpAtMs ??= performance.now() + forMs;
      const pauseMs = pauseAfter(tries, error);
      if (performance.now() + pauseMs > givesUpAtMs) throw error;
      await pause(pauseMs, signals);
    }
  }
}

/** @throws the reason of a signal that is aborted meanwhile */
export async function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  await sleep(ms, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
  for (const signal of signals) signal.throwIfAborted();
}

function mayHelp(error: unknown, isSafe: boolean): boolean {
  if (error instanceof UnreachableError) return isSafe || error.wasNotSent;
  if (!(error instanceof UnavailableError)) return false;
  // Refused for its rate alone, before anybody looked at it.
  return error.status === 429 || (isSafe && PASSING.includes(error.status));
}

/** Doubles, up to a limit, with a random half of it, so that callers do not come back all at once. */
function pauseAfter(tries: number, error: unknown): number {
  const fullMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
  const hintMs = error instanceof UnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(hintMs, fullMs * (0.5 + Math.random() / 2));
}
