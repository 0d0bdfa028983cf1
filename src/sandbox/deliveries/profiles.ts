import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { WebhookProfile } from '../settings.js';

/** What is signed and sent. `signed` differs from `body` in a tampered copy, which keeps the genuine signature. */
export interface Outgoing {
  readonly webhookId: string;
  readonly event: string;
  readonly body: string;
  readonly signed: string;
}

export interface Wire {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SigningKeys {
  readonly secret: string;
  readonly integratorId: string;
  /** By the wall clock: receivers refuse a timestamp that is five minutes off, whatever time the sandbox has. */
  readonly wallNow: () => number;
}

type Profile = (outgoing: Outgoing, keys: SigningKeys) => Wire;

const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

/** `whsec_…` and canonical base64 are decoded, as Standard Webhooks says; any other text is the key itself. */
function webhookOf(secret: string): Webhook {
  const isBase64 = secret.startsWith('whsec_') || Buffer.from(secret, 'base64').toString('base64') === secret;
  return isBase64 ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
}

/** How callbacks and account webhooks are signed, by profile. A new one is an entry here. */
export const PROFILES: Readonly<Record<WebhookProfile, Profile>> = {
  'standard-webhooks'({ webhookId, signed, body }, { secret, wallNow }) {
    const at = new Date(wallNow());
    return {
      headers: {
        'webhook-id': webhookId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhookOf(secret).sign(webhookId, at, signed),
      },
      body,
    };
  },
  // The signature covers the body without the member `signature`, which is put in afterwards (service-notes.md).
  kotani({ event, signed, body }, { secret, integratorId }) {
    const signature = hex(secret, signed);
    return {
      headers: {
        'x-kotani-signature': `sha256=${signature}`,
        'x-kotani-event': event,
        'x-kotani-integrator': integratorId,
      },
      body: `${body.slice(0, -1)},"signature":"${signature}"}`,
    };
  },
  'raw-hmac': ({ event, signed, body }, { secret }) => ({
    headers: { 'x-webhook-signature': `sha256=${hex(secret, signed)}`, 'x-webhook-event': event },
    body,
  }),
  unsigned: ({ body }) => ({ headers: {}, body }),
};
