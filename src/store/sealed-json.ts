import { open, seal, type Keyring } from '../keys/index.js';
import { canonicalJson } from './canonical-json.js';
import type { SqlBlob } from './sql-message.js';

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
