import type { Settings } from '../../config/settings-shape.js';
import type { SignatureProfile } from './signature-profile.js';
import { createStandardWebhooks } from './standard-webhooks.js';

export interface Profiles {
  /** Of the service, for callbacks and account webhooks. */
  readonly service: SignatureProfile;
  readonly settlement: SignatureProfile;
}

const unsigned: SignatureProfile = { name: 'unsigned', verify: () => 'absent' };

/** Only Standard Webhooks so far: `readSettings` refuses the profiles that are not built. */
export function createProfiles(
  settings: Pick<Settings, 'webhookSecrets' | 'webhookProfile' | 'settlementSecrets'>,
  nowMs: () => number,
): Profiles {
  const ofService = settings.webhookSecrets.filter((secret) => secret.startsWith('whsec_'));
  return {
    service: settings.webhookProfile === 'unsigned' ? unsigned : createStandardWebhooks({ secrets: ofService, nowMs }),
    settlement: createStandardWebhooks({ secrets: settings.settlementSecrets, nowMs }),
  };
}
