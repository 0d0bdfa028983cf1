/** A secret of 256 bits with a name. The name travels in the clear with everything it sealed. */
export interface PayloadKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The active key seals; every key opens. That is how keys rotate: put the new one first, drop the old one last. */
export interface Keyring {
  readonly active: PayloadKey;
  /** In the given order: the active one first. */
  readonly ids: readonly string[];
  find(id: string): PayloadKey | undefined;
}

export const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Reads `PAYLOAD_KEYS`: comma-separated `id:base64-of-32-bytes`; the first is active, the others only decrypt.
 *
 * @throws InvalidKeysError if the text does not have that form. It names the entry by its position, never by its
 * content.
 */
export function parseKeyring(text: string): Keyring {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return createKeyring(entries.map(parseKey));
}

/** @throws InvalidKeysError if there is no key, or an id is used twice. */
export function createKeyring(keys: readonly PayloadKey[]): Keyring {
  const [active] = keys;
  if (active === undefined) throw new InvalidKeysError('There is no payload key; give at least one as id:base64');
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size !== keys.length) throw new InvalidKeysError('Two payload keys have the same id');
  return { active, ids: [...byId.keys()], find: (id) => byId.get(id) };
}

function parseKey(entry: string, index: number): PayloadKey {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, Math.max(colon, 0));
  const encoded = entry.slice(colon + 1);
  if (!KEY_ID.test(id) || !BASE64_OF_32_BYTES.test(encoded)) {
    throw new InvalidKeysError(`Payload key number ${index + 1} is not of the form id:base64-of-32-bytes`);
  }
  return { id, bytes: new Uint8Array(Buffer.from(encoded, 'base64')) };
}

/** The given payload keys cannot be used. The message never holds a key. */
export class InvalidKeysError extends Error {
  override readonly name = 'InvalidKeysError';
}

/** The key file can be read by others than its owner, so its keys count as known to them. */
export class ExposedKeyFileError extends Error {
  override readonly name = 'ExposedKeyFileError';

  readonly path: string;

  constructor(path: string) {
    super(`Others can read the key file ${path}. Run "chmod 600 ${path}", or remove it if its keys may have leaked`);
    this.path = path;
  }
}

/** Sealed under a key that this process was not given, such as a retired one. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';

  readonly keyId: string;

  constructor(keyId: string) {
    super(`No payload key has the id ${keyId}`);
    this.keyId = keyId;
  }
}

/** Not sealed by us, sealed for another place, or changed since. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';

  constructor() {
    super('The seal is broken');
  }
}
