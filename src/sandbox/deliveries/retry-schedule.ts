import type { Settings } from '../settings.js';

/** Wait after this many failed tries, or undefined where the delivery is given up. Pure. */
export function waitBeforeRetry(
  settings: Pick<Settings, 'retryScheduleMs' | 'retryForMs'>,
  delivery: { readonly tries: number; readonly maxTries: number | null; readonly ageMs: number },
): number | undefined {
  const { retryScheduleMs, retryForMs } = settings;
  if (delivery.maxTries !== null && delivery.tries >= delivery.maxTries) return undefined;
  const wait = retryScheduleMs[Math.min(delivery.tries, retryScheduleMs.length) - 1] ?? 0;
  return delivery.ageMs + wait > retryForMs ? undefined : wait;
}
