import { hkdfSync } from 'node:crypto';

const PREFIX = 'whsec_';
const BYTES = 32;

/** In place of the name of flows that belong to none: another Temporal client started them. No token has it. */
export const OF_NO_NAME = 'temporal:client';

/**
 * The secrets that sign the callbacks about the flows of one name, of which the first signs: derived from those of
 * `CALLBACK_SECRETS`, so that who verifies callbacks with them can forge none to another name.
 */
export function secretsOfName(name: string, secrets: readonly string[]): readonly string[] {
  return secrets.map((secret) => {
    const bytes = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
    const info = JSON.stringify(['towline callbacks', name]);
    return PREFIX + Buffer.from(hkdfSync('sha256', bytes, '', info, BYTES)).toString('base64');
  });
}

/**
 * What the secrets of all names are derived from: `CALLBACK_SECRETS`, or in development one that is derived from the
 * store's key and so survives a restart. Otherwise none: then nothing is sent, and the worker says why.
 */
export function callbackSecrets(
  settings: { readonly callbackSecrets: readonly string[]; readonly development: boolean },
  store: { macs(purpose: string, text: string): readonly string[] },
): readonly string[] {
  if (settings.callbackSecrets.length > 0 || !settings.development) return settings.callbackSecrets;
  // Derived from the store's first key: receivers know it, and never get another one.
  const derived = store.macs('callback-secret', '').at(-1) ?? '';
  return [`${PREFIX}${Buffer.from(derived, 'hex').toString('base64')}`];
}
