import type { Clock } from '../clock.js';
import type { Notes } from '../notes.js';
import type { LiveSettings, WebhookProfile } from '../settings.js';
import type { Delivery } from './deliveries.js';
import { type Outgoing, PROFILES, type Wire } from './profiles.js';

/** `plain`: as its stream is signed. `forged`: with a secret that the forger made up. `bare`: without a signature. */
export const MANNERS = ['plain', 'forged', 'bare'] as const;
export type Manner = (typeof MANNERS)[number];

/** The secret that signed until a new one took over. */
export interface PreviousSecret {
  readonly secret: string;
  readonly until: number;
}

const FORGERS_SECRET = 'the-forger-does-not-know-it';

/** Puts a delivery into the form in which it leaves, by the secrets and profiles of this moment. */
export type Sign = (delivery: Delivery) => Wire;

export function createSign(deps: {
  settings: LiveSettings;
  notes: Notes;
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
