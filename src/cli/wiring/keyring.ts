import type { Settings } from '../../config/index.js';
import { loadOrMakeKeyring, parseKeyring, type Keyring } from '../../keys/index.js';

/** The payload keys of the settings; in development, keys that are made at first use and kept in TOWLINE_HOME. */
export async function loadKeyring(settings: Pick<Settings, 'payloadKeys' | 'towlineHome'>): Promise<Keyring> {
  return settings.payloadKeys === undefined
    ? loadOrMakeKeyring(settings.towlineHome)
    : parseKeyring(settings.payloadKeys);
}
