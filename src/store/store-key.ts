import { createHmac, randomBytes } from 'node:crypto';
import { open, seal, type Keyring } from '../keys/index.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import type { SqlBlob } from './sql-message.js';

const PLACE = JSON.stringify(['meta', 'store-key']);

/**
 * The store's own HMAC key. Made at first open, sealed, and never changed: every fingerprint ever taken depends on it.
 *
 * @throws UnknownKeyError @throws SealBrokenError where the payload keys are not those it was sealed with
 */
export async function loadOrMakeStoreKey(db: SqlConnection, keyring: Keyring, nowMs: number): Promise<Uint8Array> {
  const candidate = seal(keyring, randomBytes(32), PLACE);
  const [, found] = await db.write(
    [
      { sql: `INSERT INTO meta VALUES ('store-key', ?, ?) ON CONFLICT DO NOTHING`, params: [candidate, nowMs] },
      { sql: `SELECT value FROM meta WHERE name = 'store-key'`, params: [] },
    ],
    turnOf.meta,
  );
  const sealed = found?.rows[0]?.['value'];
  return open(keyring, new Uint8Array(sealed as SqlBlob), PLACE);
}

/** The length in front keeps ("a", "bc") and ("ab", "c") apart. */
export function mac(storeKey: Uint8Array, purpose: string, text: string): string {
  return createHmac('sha256', storeKey).update(`${purpose.length}:${purpose}:${text}`, 'utf8').digest('hex');
}
