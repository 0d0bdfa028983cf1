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
  settings: Pick<Settings, 'webhookProfile' | 'settlementSecrets'>,
  /** Of the service; asked with every event. */
  webhookSecrets: () => readonly string[],
  nowMs: () => number,
): Profiles {
  return {
    service: settings.webhookProfile === 'unsigned' ? unsigned : following(webhookSecrets, nowMs),
    settlement: createStandardWebhooks({ secrets: settings.settlementSecrets, nowMs }),
  };
}

/** Made anew whenever the secrets are others than before. */
function following(webhookSecrets: () => readonly string[], nowMs: () => number): SignatureProfile {
  let known = '';
  let profile = createStandardWebhooks({ secrets: [], nowMs });
  return {
    name: profile.name,
    verify(request) {
      const secrets = webhookSecrets().filter((secret) => secret.startsWith('whsec_'));
      if (secrets.join() !== known) {
        known = secrets.join();
        profile = createStandardWebhooks({ secrets, nowMs });
      }
      return profile.verify(request);
    },
  };
}
