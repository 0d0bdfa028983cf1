import { createKeyring } from '../../src/keys/index.js';

/** What the test and its processes must agree on. */
export const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);
export const SETTLEMENT_SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
export const SERVICE_TOKEN = 'faults-service-token';
export const ACCOUNT = 'faults';
export const NAMESPACE = 'default';
export const CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
