import type { Settings } from '../../config/settings-shape.js';
import { Refusal } from '../http/refusal.js';

/**
 * A new webhook secret that only the service knows would make every event a wrong signature. Who sends it by the command
 * line gives it to the gateways first. With `WEBHOOK_PROFILE=unsigned` nobody looks at signatures.
 *
 * @throws Refusal 400
 */
export function refuseNewSecret({ webhookProfile }: Pick<Settings, 'webhookProfile'>, update: unknown): void {
  const isGiven = typeof update === 'object' && update !== null && 'webhook_secret' in update;
  if (!isGiven || webhookProfile === 'unsigned') return;
  const message = 'must not be changed here, since the gateways would not know it and refuse all events';
  throw new Refusal(
    400,
    'Change the webhook secret with "towline account webhook", which the gateways follow. Nothing was sent.',
    { errors: [{ path: 'webhook_secret', message }] },
  );
}
