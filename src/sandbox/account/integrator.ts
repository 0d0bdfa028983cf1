import type { IntegratorRequest, WebhookUpdateRequest } from '../../contract/account.js';
import type { Clock } from '../clock.js';
import type { PreviousSecret } from '../deliveries/signing.js';
import type { KeyValue } from '../database.js';
import type { Handlers } from '../handler.js';
import { Refusal } from '../refusal.js';
import type { LiveSettings, Settings } from '../settings.js';

/** The integrator's profile; its webhook URL is in the settings, which the control interface may also change. */
interface Profile {
  readonly id: string;
  readonly organization: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone: string;
}

/**
 * The sandbox's one account. No operation of the interface ties a token to an integrator, so the newest one that was
 * created is whom all tokens belong to.
 */
export interface Integrator {
  id(): string;
  email(): string;
  /** The "Integrator" of the interface: without its secret. */
  shown(): object;
  /** Inside `database.write`, as `updateWebhook`. */
  create(request: IntegratorRequest): void;
  updateWebhook(request: WebhookUpdateRequest): void;
}

const NO_PROFILE: Profile = {
  id: 'INT-sandbox',
  organization: 'Sandbox',
  first_name: 'Sandbox',
  last_name: 'Integrator',
  email: 'integrator@sandbox.invalid',
  phone: '+10000000000',
};

export function createIntegratorAccount(deps: {
  notes: KeyValue;
  settings: LiveSettings;
  clock: Clock;
  createId: () => string;
}): Integrator {
  const { notes, settings, clock, createId } = deps;
  const profile = () => notes.read<Profile>('integrator', NO_PROFILE);

  /** The old secret keeps signing for `secretSwitchMs`, like a service that does not switch at once. */
  function keepOldSecret(next: string): void {
    const { webhookSecret: secret, secretSwitchMs } = settings.current();
    if (secret === null || secret === next) return;
    notes.write('previousWebhookSecret', { secret, until: clock.now() + secretSwitchMs } satisfies PreviousSecret);
  }

  function updateWebhook({ webhook_url, webhook_secret, webhook_events }: WebhookUpdateRequest): void {
    if (webhook_secret !== undefined) keepOldSecret(webhook_secret);
    const changed: Partial<Settings> = {
      ...(webhook_url === undefined ? {} : { webhookUrl: webhook_url }),
      ...(webhook_secret === undefined ? {} : { webhookSecret: webhook_secret }),
      ...(webhook_events === undefined ? {} : { webhookEvents: webhook_events }),
    };
    settings.change(changed);
  }

  return {
    id: () => profile().id,
    email: () => profile().email,
    shown() {
      const { webhookUrl, webhookEvents } = settings.current();
      return { ...profile(), webhook_url: webhookUrl ?? undefined, webhook_events: webhookEvents };
    },
    create(request) {
      const { organization, first_name, last_name, email, phone } = request;
      notes.write('integrator', { id: `INT-${createId()}`, organization, first_name, last_name, email, phone });
      updateWebhook(request);
    },
    updateWebhook,
  };
}

export const integratorHandlers = (integrator: Integrator): Pick<Handlers, 'createIntegrator' | 'updateWebhook'> => ({
  createIntegrator({ body }) {
    if (integrator.email() === body.email) {
      return new Refusal(409, 'INTEGRATOR_EXISTS', 'An integrator with this email exists already');
    }
    integrator.create(body);
    return { message: 'Integrator created', data: integrator.shown() };
  },
  updateWebhook({ body }) {
    integrator.updateWebhook(body);
    return { message: 'Webhook updated', data: integrator.shown() };
  },
});
