import { z } from 'zod';
import type { Notes } from './notes.js';

/**
 * What a repeated reference gets. `same-result`: the first answer again. `conflict`: 409. `rejected`: 400.
 * `execute-again`: the money moves once more.
 */
export const REPEAT_MODES = ['same-result', 'conflict', 'rejected', 'execute-again'] as const;
export type RepeatMode = (typeof REPEAT_MODES)[number];

/** What may be changed while the sandbox runs (`POST /_sandbox/settings`). */
export const Settings = z.strictObject({
  repeatMode: z.enum(REPEAT_MODES),
  /** Duration of one lifecycle step. */
  stepMs: z.number().int().min(0),
  /** A step of the ending `slow` takes this many times longer. */
  slowFactor: z.number().int().min(1),
  /** Moves the market: a quote gives this many basis points less crypto (more, if negative). */
  rateDriftBps: z.number().int().min(-9_000).max(9_000),
  /** Waits between the attempts of one delivery; the last one repeats. */
  retryScheduleMs: z.array(z.number().int().min(0)).min(1),
  /** A delivery is given up this long after it was made. */
  retryForMs: z.number().int().min(0),
  deliveryTimeoutMs: z.number().int().min(1),
});
export type Settings = z.infer<typeof Settings>;

export const defaultSettings: Settings = {
  repeatMode: 'same-result',
  stepMs: 300,
  slowFactor: 20,
  rateDriftBps: 0,
  retryScheduleMs: [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
  retryForMs: 24 * 3_600_000,
  deliveryTimeoutMs: 10_000,
};

export interface LiveSettings {
  current(): Settings;
  /** Kept on disk until a reset, and stronger than the options of the next start. */
  change(part: Partial<Settings>): Settings;
}

export function createSettings(deps: { notes: Notes; fromOptions: Partial<Settings> }): LiveSettings {
  const base = { ...defaultSettings, ...deps.fromOptions };
  const read = () => ({ ...base, ...deps.notes.read<Partial<Settings>>('settings', {}) });
  return {
    current: read,
    change(part) {
      deps.notes.write('settings', { ...deps.notes.read<Partial<Settings>>('settings', {}), ...part });
      return read();
    },
  };
}
