import type { Settings, WebhookProfile } from '../../config/settings-shape.js';
import { createAnySignature } from './any-signature.js';
import { createJsonHmac } from './json-hmac.js';
import { createRawHmac } from './raw-hmac.js';
import type { WebhookSecrets } from './live-secrets.js';
import type { ProfileOptions, SignatureProfile, SignatureVerdict, SignedRequest } from './signature-profile.js';
import { createStandardWebhooks } from './standard-webhooks.js';

export interface Profiles {
  /** Of the service, for callbacks and account webhooks. */
  readonly service: SignatureProfile;
  readonly settlement: SignatureProfile;
}

const SIGNED = {
  'standard-webhooks': createStandardWebhooks,
  'raw-hmac': createRawHmac,
  'json-hmac': createJsonHmac,
};

/** The words of `WEBHOOK_PROFILE`. */
const PROFILES: Readonly<Record<WebhookProfile, (options: ProfileOptions) => SignatureProfile>> = {
  ...SIGNED,
  unsigned: () => ({ name: 'unsigned', verify: () => 'absent' }),
  auto: (options) => createAnySignature(Object.values(SIGNED).map((create) => create(options))),
};

export function createProfiles(
  settings: Pick<Settings, 'webhookProfile' | 'settlementSecrets'>,
  /** Of the service; asked with every event. */
  webhookSecrets: WebhookSecrets,
  nowMs: () => number,
): Profiles {
  const create = PROFILES[settings.webhookProfile];
  return {
    service: following(webhookSecrets, (secrets) => create({ secrets, nowMs })),
    settlement: createStandardWebhooks({ secrets: settings.settlementSecrets, nowMs }),
  };
}

/** Made anew whenever the secrets are others than before. */
function following(
  webhookSecrets: WebhookSecrets,
  create: (secrets: readonly string[]) => SignatureProfile,
): SignatureProfile {
  let known = '';
  let profile = create([]);
  const verifyWith = (secrets: readonly string[], request: SignedRequest): SignatureVerdict => {
    if (secrets.join() !== known) {
      known = secrets.join();
      profile = create(secrets);
    }
    return profile.verify(request);
  };
  return {
    name: profile.name,
    verify(request) {
      const verdict = verifyWith(webhookSecrets(), request);
      // It may be under a secret of this very moment.
      return verdict === 'invalid' ? verifyWith(webhookSecrets('now'), request) : verdict;
    },
  };
}
