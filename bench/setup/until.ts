import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** @throws Error where it does not come true in time */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endsAtMs) throw new Error(`waited ${withinMs / 1_000} s in vain for ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
