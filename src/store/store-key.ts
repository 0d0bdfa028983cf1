import { createHmac, randomBytes } from 'node:crypto';
import { open, seal, type Keyring } from '../keys/index.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import type { SqlBlob } from './sql-message.js';
import { canonicalJson } from './canonical-json.js';

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

/** What distinguishes one POST from another under the same claim: what its caller decided, under the store's own key. */
export function submitFingerprint(
  store: { mac(purpose: string, text: string): string },
  operation: string,
  decided: unknown,
): string {
  return store.mac(`submit ${operation}`, canonicalJson(decided));
}

/** JSON values as sealed bytes. The place (table, row, column) is bound to them: a value moved elsewhere is broken. */
export interface SealedJson {
  /** @throws NotJsonError */
  seal(place: readonly string[], value: unknown): Uint8Array;
  /** The same for a value that is known to be JSON, such as what was parsed from a request: it is not looked through again. */
  sealParsed(place: readonly string[], value: unknown): Uint8Array;
  /** @throws UnknownKeyError @throws SealBrokenError */
  open(place: readonly string[], sealed: SqlBlob): unknown;
}

export function createSealedJson(keyring: Keyring): SealedJson {
  const sealText = (place: readonly string[], json: string) =>
    seal(keyring, Buffer.from(json, 'utf8'), JSON.stringify(place));
  return {
    seal: (place, value) => sealText(place, canonicalJson(value)),
    sealParsed: (place, value) => sealText(place, JSON.stringify(value)),
    open(place, sealed) {
      const plain = open(keyring, new Uint8Array(sealed), JSON.stringify(place));
      return JSON.parse(Buffer.from(plain).toString('utf8')) as unknown;
    },
  };
}
