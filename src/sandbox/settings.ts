import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../contract/vocabulary.js';
import type { KeyValue } from './database.js';

/**
 * The answer to a repeated reference. `same-result`: the first answer again. `conflict`: 409. `rejected`: 400.
 * `execute-again`: the money moves once more.
 */
export const REPEAT_MODES = ['same-result', 'conflict', 'rejected', 'execute-again'] as const;
export type RepeatMode = (typeof REPEAT_MODES)[number];

/** Status words: those of the interface, or those of the live service. */
export const VOCABULARIES = ['interface', 'live'] as const;
export type Vocabulary = (typeof VOCABULARIES)[number];

/** "Shape of an error response body: not shown": the four that the service documents; `mixed` is A with a word as its code. */
export const ERROR_BODIES = ['mixed', 'A', 'B', 'C', 'D'] as const;
export type ErrorBodyForm = (typeof ERROR_BODIES)[number];

/** "Signature algorithm and signature header of signed callbacks: not shown". See `deliveries/signing.ts`. */
export const WEBHOOK_PROFILES = ['standard-webhooks', 'kotani', 'raw-hmac', 'unsigned'] as const;
export type WebhookProfile = (typeof WEBHOOK_PROFILES)[number];

/** Settings that may change while the sandbox runs (`POST /_sandbox/settings`). */
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
  /** How late the last step of the ending `success-after-timeout` is. */
  lateMs: z.number().int().min(0),
  vocabulary: z.enum(VOCABULARIES),
  errorBody: z.enum(ERROR_BODIES),
  /** Every number of an answer, a callback or a webhook as text. */
  numbersAsStrings: z.boolean(),
  /** URL of the account's webhooks; null for none. `createIntegrator` and `updateWebhook` also set it. */
  webhookUrl: z.url({ protocol: /^https?$/ }).nullable(),
  webhookSecret: z.string().min(1).nullable(),
  /** Empty means all. */
  webhookEvents: z.array(z.enum(WEBHOOK_EVENTS)),
  webhookProfile: z.enum(WEBHOOK_PROFILES),
  /** Signs callbacks; null for bare fields. */
  callbackSecret: z.string().min(1).nullable(),
  /** Null: as `webhookProfile`. */
  callbackProfile: z.enum(WEBHOOK_PROFILES).nullable(),
  /** A new webhook secret signs only this long after `updateWebhook` set it; until then the old one does. */
  secretSwitchMs: z.number().int().min(0),
  /** Also serves operations that the interface lacks and the live service has. */
  liveOperations: z.boolean(),
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
  lateMs: 2 * 3_600_000,
  vocabulary: 'interface',
  errorBody: 'mixed',
  numbersAsStrings: false,
  webhookUrl: null,
  webhookSecret: null,
  webhookEvents: [],
  webhookProfile: 'standard-webhooks',
  callbackSecret: null,
  callbackProfile: null,
  secretSwitchMs: 0,
  liveOperations: false,
};

/** For people: without the secrets. */
export function shownSettings(settings: Settings): object {
  const shown = (secret: string | null) => (secret === null ? null : '(set)');
  const { webhookSecret, callbackSecret } = settings;
  return { ...settings, webhookSecret: shown(webhookSecret), callbackSecret: shown(callbackSecret) };
}

export interface LiveSettings {
  current(): Settings;
  /** Kept on disk until a reset, and stronger than the options of the next start. */
  change(part: Partial<Settings>): Settings;
}

export function createSettings(deps: { notes: KeyValue; fromOptions: Partial<Settings> }): LiveSettings {
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
