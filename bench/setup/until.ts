import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** The final result of `holds`. @throws Error if it does not come true in time */
export async function until<T>(what: string, holds: () => Promise<T | false>, withinMs = 120_000): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const found = await holds();
    if (found !== false) return found;
    if (performance.now() > endsAtMs) throw new Error(`waited ${withinMs / 1_000} s in vain for ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
