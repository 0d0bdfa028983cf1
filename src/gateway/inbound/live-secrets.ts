import type { Logger } from 'pino';
import { keptSecretsPath, readKeptSecrets, secretsInForce } from '../../config/kept-webhook-secrets.js';
import { followFile, type Live } from '../../config/secret-files.js';
import type { Settings } from '../../config/settings-shape.js';
import { errorForLog } from '../http/refusal.js';

/**
 * The service's current webhook secrets: `WEBHOOK_SECRETS`, and what `towline account webhook --rotate` wrote since.
 * The file is checked a few times a second, and before any event is refused: a rotation needs no restart, and the first
 * event under the new secret is not refused.
 *
 * @throws KeptSecretsError if the file cannot be used at the start; later the last good one stays valid
 */
export function followWebhookSecrets(deps: {
  readonly settings: Pick<Settings, 'towlineHome'>;
  readonly fromSetting: Live<readonly string[]>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}): Live<readonly string[]> {
  const { settings, fromSetting, nowMs, monotonicMs, logger } = deps;
  const path = keptSecretsPath(settings.towlineHome);
  const kept = followFile({
    path,
    read: () => readKeptSecrets(path),
    monotonicMs,
    onBroken: (error) =>
      logger.error(
        { error: errorForLog(error) },
        'the stored webhook secrets cannot be read: the last known ones stay in use',
      ),
  });
  return (when) => secretsInForce(fromSetting(when), kept(when), nowMs());
}
