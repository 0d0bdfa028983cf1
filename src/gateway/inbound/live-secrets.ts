import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import {
  keptSecretsPath,
  readKeptSecrets,
  secretsInForce,
  type KeptSecret,
} from '../../config/kept-webhook-secrets.js';
import type { Settings } from '../../config/settings-shape.js';
import { errorForLog } from '../http/refusal.js';

/** Those in force; `now`: not even a moment ago will do. */
export type WebhookSecrets = (when?: 'now') => readonly string[];

const LOOK_EVERY_MS = 200;

/**
 * The service's webhook secrets of this very moment: `WEBHOOK_SECRETS`, and what `towline account webhook --rotate` wrote
 * since. The file is looked at a few times a second, and before any event is refused: a rotation needs no restart, and
 * the first event under the new secret is not refused.
 *
 * @throws KeptSecretsError where the file cannot be used at the start; later the last good one counts
 */
export function followWebhookSecrets(deps: {
  readonly settings: Pick<Settings, 'webhookSecrets' | 'towlineHome'>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}): WebhookSecrets {
  const { settings, nowMs, monotonicMs, logger } = deps;
  const path = keptSecretsPath(settings.towlineHome);
  let seen = versionOf(path);
  let kept: readonly KeptSecret[] = readKeptSecrets(path);

  let lookedAtMs = monotonicMs();

  return (when) => {
    const isReported = when !== 'now' && monotonicMs() - lookedAtMs < LOOK_EVERY_MS;
    const version = isReported ? seen : versionOf(path);
    if (!isReported) lookedAtMs = monotonicMs();
    if (version !== seen) {
      seen = version;
      try {
        kept = readKeptSecrets(path);
      } catch (error) {
        logger.error({ error: errorForLog(error) }, 'the kept webhook secrets cannot be read: those of before count');
      }
    }
    return secretsInForce(settings.webhookSecrets, kept, nowMs());
  };
}

/** Each version is a file of its own, renamed into place. */
function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeMs} ${stat.size} ${stat.mode}`;
}
