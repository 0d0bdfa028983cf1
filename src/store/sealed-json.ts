import { open, seal, type Keyring } from '../keys/index.js';
import { canonicalJson } from './canonical-json.js';
import type { SqlBlob } from './sql-message.js';

/** JSON values as sealed bytes. The place (table, row, column) is bound to them: a value moved elsewhere is broken. */
export interface SealedJson {
  /** @throws NotJsonError */
  seal(place: readonly string[], value: unknown): Uint8Array;
  /** @throws UnknownKeyError @throws SealBrokenError */
  open(place: readonly string[], sealed: SqlBlob): unknown;
}

export function createSealedJson(keyring: Keyring): SealedJson {
  return {
    seal: (place, value) => seal(keyring, Buffer.from(canonicalJson(value), 'utf8'), JSON.stringify(place)),
    open(place, sealed) {
      const plain = open(keyring, new Uint8Array(sealed), JSON.stringify(place));
      return JSON.parse(Buffer.from(plain).toString('utf8')) as unknown;
    },
  };
}
