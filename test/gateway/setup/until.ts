import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, with a deadline and without a fixed pause. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 60_000,
): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAtMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await sleep(15);
  }
}
