import type { Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { callbackSecrets } from '../wiring/callback-secrets.js';
import { type Finding, good, note } from './finding.js';

/** Whether callbacks to callers can be signed, and by what. */
export function checkCallbacks(
  settings: Pick<Settings, 'callbackSecrets' | 'development'>,
  store: Pick<Store, 'mac'> | undefined,
  options: { readonly showSecrets: boolean },
): readonly Finding[] {
  const secrets = store === undefined ? settings.callbackSecrets : callbackSecrets(settings, store);
  if (secrets.length === 0 && !settings.development) {
    return [note('CALLBACK_SECRETS', 'not set: flows with a callbackUrl run, and their callers are told nothing.')];
  }
  const whose = settings.callbackSecrets.length === 0 ? 'of development, derived from the store' : 'the first signs';
  const finding = good('CALLBACK_SECRETS', whose);
  return options.showSecrets && secrets[0] !== undefined
    ? [finding, note('callback secret', `${secrets[0]} (a secret: for those who receive callbacks)`)]
    : [finding];
}
