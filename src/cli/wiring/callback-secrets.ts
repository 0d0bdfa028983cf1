import type { Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';

/**
 * What signs callbacks: `CALLBACK_SECRETS`, or in development one that is derived from the store's key and so survives a
 * restart. None elsewhere: nothing is sent then, and the worker says why.
 */
export function callbackSecrets(
  settings: Pick<Settings, 'callbackSecrets' | 'development'>,
  store: Pick<Store, 'mac'>,
): readonly string[] {
  if (settings.callbackSecrets.length > 0 || !settings.development) return settings.callbackSecrets;
  return [`whsec_${Buffer.from(store.mac('callback-secret', ''), 'hex').toString('base64')}`];
}
