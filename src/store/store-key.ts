import { createHmac, randomBytes } from 'node:crypto';
import { keyIdOf, open, seal, type Keyring } from '../keys/index.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import { bytesOf, type SqlBlob } from './sql-message.js';
import { canonicalJson } from './canonical-json.js';

const PLACE = JSON.stringify(['meta', 'store-key']);

interface MacKey {
  readonly base64: string;
  /** The epoch of capabilities (`CAPABILITY_EPOCHS`) in which it was replaced: it is not valid for a later one. */
  readonly lastEpoch?: number;
}

/** The content of the sealed row `store-key`. */
interface KeyRecord {
  /** HMAC keys, newest first. New MACs use the newest; comparisons use all, since claims are kept for ever. */
  readonly macKeys: readonly MacKey[];
  /** For each payload key that was replaced: when `towline keys rotate` last found the store sealed with it, ms. */
  readonly replaced: Readonly<Record<string, number>>;
}

/** The store's own HMAC keys, which every fingerprint, content hash and capability depends on. */
export interface StoreKey {
  /** HMAC-SHA256 (hex) by the newest key; `purpose` separates the uses. */
  mac(purpose: string, text: string): string;
  /** By every key, newest first: to compare with MACs from before a rotation. */
  macs(purpose: string, text: string): readonly string[];
  /**
   * By every key that is valid for this capability epoch, newest first: a stolen earlier key makes none of a later one.
   */
  macsInEpoch(epoch: number, purpose: string, text: string): readonly string[];
  /** Reads the keys again: true if another process rotated them since. @throws UnknownKeyError @throws SealBrokenError */
  refresh(): Promise<boolean>;
  /** When each payload key that was replaced was last found in use, ms. */
  replaced(): Readonly<Record<string, number>>;
  /**
   * Seals the keys with the active payload key. If another key had sealed them, it also makes a new HMAC key: the
   * earlier ones may be known together with the old payload key.
   *
   * @param epoch of capabilities, the current one
   * @param stillSealing further payload keys that rows were found sealed with
   */
  rotate(epoch: number, stillSealing: readonly string[]): Promise<void>;
}

/**
 * Made at first open, and sealed.
 *
 * @throws UnknownKeyError @throws SealBrokenError if the payload keys are not those it was sealed with
 */
export async function loadOrMakeStoreKey(db: SqlConnection, keyring: Keyring, now: () => number): Promise<StoreKey> {
  const sealRecord = (record: KeyRecord) => seal(keyring, Buffer.from(JSON.stringify(record), 'utf8'), PLACE);
  const openRecord = (sealed: Uint8Array) =>
    JSON.parse(Buffer.from(open(keyring, sealed, PLACE)).toString('utf8')) as KeyRecord;

  const made = sealRecord({ macKeys: [{ base64: newKey() }], replaced: {} });
  const make = `INSERT INTO meta (name, value, at) VALUES ('store-key', ?, ?) ON CONFLICT DO NOTHING`;
  const [, first] = await db.write([{ sql: make, params: [made, now()] }, SELECT], turnOf.meta);
  let sealed = bytesOf(first?.rows[0]?.['value']);
  let record = openRecord(sealed);
  let keys = keysOf(record);

  const read = async (): Promise<boolean> => {
    const [found] = await db.read([SELECT]);
    const present = bytesOf(found?.rows[0]?.['value']);
    if (Buffer.compare(present, sealed) === 0) return false;
    record = openRecord(present);
    sealed = present;
    const before = keys.length;
    keys = keysOf(record);
    return keys.length !== before;
  };
  let reading: Promise<boolean> | undefined;
  /** One read for all simultaneous callers: a flood of forged capabilities is no flood of reads. */
  const refresh = (): Promise<boolean> => {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
  const macs = (purpose: string, text: string) => keys.map(({ bytes }) => mac(bytes, purpose, text));

  return {
    mac: (purpose, text) => mac(keys[0]?.bytes ?? new Uint8Array(), purpose, text),
    macs,
    macsInEpoch: (epoch, purpose, text) =>
      keys.filter(({ lastEpoch = epoch }) => epoch <= lastEpoch).map(({ bytes }) => mac(bytes, purpose, text)),
    refresh,
    replaced: () => record.replaced,
    async rotate(epoch, stillSealing) {
      for (;;) {
        await refresh();
        const sealer = keyIdOf(sealed);
        const isOther = sealer !== undefined && sealer !== keyring.active.id;
        const found = [...stillSealing, ...(isOther ? [sealer] : [])].filter((id) => id !== keyring.active.id);
        if (found.length === 0) return;
        const { [keyring.active.id]: _, ...others } = record.replaced;
        const replaced = { ...others, ...Object.fromEntries(found.map((id) => [id, now()])) };
        const next = sealRecord({
          macKeys: isOther ? [{ base64: newKey() }, ...replacedIn(epoch, record.macKeys)] : record.macKeys,
          replaced,
        });
        // Only if it is still as it was read: of two rotations at once, one starts again.
        const update = `UPDATE meta SET value = ?, at = ? WHERE name = 'store-key' AND value = ?`;
        const [updated] = await db.write([{ sql: update, params: [next, now(), sealed] }], turnOf.meta);
        await refresh();
        if (updated?.changes === 1) return;
      }
    },
  };
}

const SELECT = { sql: `SELECT value FROM meta WHERE name = 'store-key'`, params: [] };

const newKey = (): string => randomBytes(32).toString('base64');
const keysOf = ({ macKeys }: KeyRecord) =>
  macKeys.map(({ base64, ...rest }) => ({ ...rest, bytes: new Uint8Array(Buffer.from(base64, 'base64')) }));
const replacedIn = (epoch: number, macKeys: readonly MacKey[]): readonly MacKey[] =>
  macKeys.map((key) => ({ lastEpoch: epoch, ...key }));

/** The length in front keeps ("a", "bc") and ("ab", "c") apart. */
function mac(key: Uint8Array, purpose: string, text: string): string {
  return createHmac('sha256', key).update(`${purpose.length}:${purpose}:${text}`, 'utf8').digest('hex');
}

/**
 * Distinguishes requests under the same reference: MACs of what the caller decided, by every key of the store, newest
 * first. A claim keeps only the newest, so that a stolen earlier key reveals nothing about it.
 */
export function fingerprintOf(store: Pick<StoreKey, 'macs'>, purpose: string, decided: unknown): string {
  return store.macs(purpose, canonicalJson(decided)).join(' ');
}

/** The fingerprint of a flow's input. */
export function flowFingerprint<Input>(
  store: Pick<StoreKey, 'macs'>,
  { decidedBy }: { readonly decidedBy: (input: Input) => unknown },
  input: Input,
): string {
  return fingerprintOf(store, 'flow-input', decidedBy(input));
}

/** The fingerprint of a POST for its claim. */
export function submitFingerprint(store: Pick<StoreKey, 'macs'>, operation: string, decided: unknown): string {
  return fingerprintOf(store, `submit ${operation}`, decided);
}

/** JSON values as sealed bytes. The place (table, row, column) is bound to them: a moved value is broken. */
export interface SealedJson {
  /** @throws NotJsonError */
  seal(place: readonly string[], value: unknown): Uint8Array;
  /** The same for a value that is known to be JSON, such as a parsed request: it is not checked again. */
  sealParsed(place: readonly string[], value: unknown): Uint8Array;
  /** @throws UnknownKeyError @throws SealBrokenError */
  open(place: readonly string[], sealed: SqlBlob): unknown;
}

/** The value; undefined if it is damaged or its key is missing, so that one such row does not hide others. */
export function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
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
