import type { Logger } from 'pino';
import { keptSecretsPath, NONE_IN_FORCE, readKeptSecrets, secretsInForce } from '../../config/kept-webhook-secrets.js';
import { followFile, type Live } from '../../config/secret-files.js';
import type { Settings } from '../../config/settings-shape.js';
import type { DeploymentStore } from '../../store/deployment.js';
import { errorForLog } from '../http/refusal.js';
import { keepFresh } from '../ops/remembered.js';

export interface WebhookSecrets {
  readonly inForce: Live<readonly string[]>;
  /**
   * Before an event is judged. The account's secret is the account's, not this machine's: once the service has one, no
   * gateway takes what is not signed, also one that does not have the secret (a new machine, a lost file).
   */
  readonly refresh: () => Promise<void>;
}

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
  readonly deployment: Pick<DeploymentStore, 'noteSigned' | 'isSigned'>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}): WebhookSecrets {
  const { settings, fromSetting, deployment, nowMs, monotonicMs, logger } = deps;
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
  const own: Live<readonly string[]> = (when) => secretsInForce(fromSetting(when), kept(when), nowMs());
  const failed = (error: unknown) =>
    logger.warn({ error: errorForLog(error) }, 'whether the service signs its webhooks could not be asked or noted');
  // An event does not wait for a store that hangs: then it is not stored either.
  const ask = () => deployment.isSigned();
  const isSigned = keepFresh({ ask, freshMs: ASKED_AGAIN_MS, patienceMs: ASKED_AGAIN_MS, monotonicMs, failed });
  let isMissing = false;
  let noted: Promise<void> | undefined;
  return {
    inForce: (when) => {
      const found = own(when);
      return found.length === 0 && isMissing ? [NONE_IN_FORCE] : found;
    },
    async refresh() {
      if (own().length > 0) {
        noted ??= deployment.noteSigned().catch((error: unknown) => {
          noted = undefined;
          failed(error);
        });
      } else if (!isMissing && (await isSigned()) === true) {
        isMissing = true;
        logger.error({ code: 'webhook_secrets_missing' }, MISSING);
      }
    },
  };
}

const ASKED_AGAIN_MS = 1_000;
const MISSING =
  'the service signs its webhooks, and this gateway has no secret of it: it takes none that is signed, and believes none ' +
  'that is not. Set WEBHOOK_SECRETS here, too; or WEBHOOK_PROFILE=unsigned, if the service signs no more';
