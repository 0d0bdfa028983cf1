import { createKeyring, type Keyring } from '../../src/keys/index.js';

/**
 * The key that the recorded histories are sealed with. It is public and protects nothing: what they hold is made up.
 * Never give it to anything that runs.
 */
export const RECORDING_KEYS: Keyring = createKeyring([
  { id: 'recorded', bytes: new Uint8Array(Buffer.from('this key is public, and secret to nobody'.slice(0, 32))) },
]);

export const RECORDING_NAMESPACE = 'default';
