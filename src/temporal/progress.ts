import type { Log } from './environment.js';

const everyMs = 20_000;

/** Says every twenty seconds how long `work` has been going on, because silence for minutes looks like a hang. */
export async function withProgress<T>(log: Log, what: string, hint: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  log(`${what} (${hint})`);
  const timer = setInterval(() => log(`${what}: ${elapsed(performance.now() - startedAt)}, ${hint}`), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** `4s`, `1m20s`. */
export function elapsed(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}
