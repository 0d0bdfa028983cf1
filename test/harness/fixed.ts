import { secretBytes } from './secrets.js';
import { createKeyring } from '../../src/keys/index.js';

/** What a test and its processes must agree on. */
export const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);
export const NAMESPACE = 'default';
export const ACCOUNT = 'default';
export const SERVICE_TOKEN = 'canary-token-of-the-service';
/** The settlement provider's secret, with which it signs. */
export const SETTLEMENT_SECRET = `whsec_${secretBytes(3).toString('base64')}`;
