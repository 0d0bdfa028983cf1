import { createKeyring, type Keyring } from '../../src/keys/index.js';

/**
 * The key that the recorded histories are sealed with. It is public and protects nothing: their data is invented. Never
 * use it for anything that runs.
 */
export const RECORDING_KEYS: Keyring = createKeyring([
  { id: 'recorded', bytes: new Uint8Array(Buffer.from('this key is public, and secret to nobody'.slice(0, 32))) },
]);

export const RECORDING_NAMESPACE = 'default';
