import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../clock.js';
import type { KeyValue } from '../database.js';
import type { LiveSettings, WebhookProfile } from '../settings.js';
import type { Delivery } from './deliveries.js';

/** The secret that signed before the current one. */
export interface PreviousSecret {
  readonly secret: string;
  readonly until: number;
}

const FORGERS_SECRET = 'the-forger-does-not-know-it';

/** Puts a delivery into the form in which it is sent, with the current secrets and profiles. */
export type Sign = (delivery: Delivery) => Wire;

export function createSign(deps: {
  settings: LiveSettings;
  notes: KeyValue;
  clock: Clock;
  wallNow: () => number;
  settlementSecret: string | undefined;
  integratorId: () => string;
}): Sign {
  const { settings, notes, clock, wallNow, settlementSecret, integratorId } = deps;

  function webhookSecret(): string | null {
    const previous = notes.read<PreviousSecret | null>('previousWebhookSecret', null);
    return previous !== null && clock.now() < previous.until ? previous.secret : settings.current().webhookSecret;
  }

  function signing(stream: Delivery['stream']): { profile: WebhookProfile; secret: string | null } {
    const { callbackSecret, callbackProfile, webhookProfile } = settings.current();
    switch (stream) {
      case 'callback':
        return { profile: callbackProfile ?? webhookProfile, secret: callbackSecret };
      case 'webhook':
        return { profile: webhookProfile, secret: webhookSecret() };
      case 'settlement':
        return { profile: 'standard-webhooks', secret: settlementSecret ?? null };
      default:
        return stream satisfies never;
    }
  }

  return ({ stream, manner, webhookId, event, body, signedBody }) => {
    const { profile, secret } = signing(stream);
    const outgoing: Outgoing = { webhookId, event, body, signed: signedBody ?? body };
    if (secret === null || manner === 'bare') return PROFILES.unsigned(outgoing, keys(''));
    return PROFILES[profile](outgoing, keys(manner === 'forged' ? FORGERS_SECRET : secret));
  };

  function keys(secret: string) {
    return { secret, integratorId: integratorId(), wallNow };
  }
}

/** What is signed and sent. `signed` differs from `body` in a tampered copy, which keeps the genuine signature. */
interface Outgoing {
  readonly webhookId: string;
  readonly event: string;
  readonly body: string;
  readonly signed: string;
}

export interface Wire {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SigningKeys {
  readonly secret: string;
  readonly integratorId: string;
  /** By the wall clock: receivers refuse a timestamp that is five minutes off, whatever the sandbox's time is. */
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
  // The signature covers the body without the member `signature`, which is put in afterwards.
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
