import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { KEY_ID, SealBrokenError, UnknownKeyError, type Keyring, type PayloadKey } from './keyring.js';

/*
 * version (1 byte) · length of the key id (1 byte) · key id · nonce (12 bytes) · ciphertext · tag (16 bytes)
 *
 * Associated data: everything before the nonce, then the context. The head has its own length, so no two pairs of
 * head and context give the same bytes. Random nonces of 96 bits are safe for 2^32 seals under one key.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM under the active key.
 *
 * @param context where the sealed bytes belong, such as table and row: they cannot be opened anywhere else. Not secret,
 * not stored.
 */
export function seal(keyring: Keyring, plain: Uint8Array, context: string): Uint8Array {
  const key = keyring.active;
  const head = headOf(key);
  const nonce = nextNonce(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(associatedData(head, context));

  // Memory of its own: a Buffer may be a slice of a shared pool, all of which is copied when it is sent to a thread.
  const sealed = new Uint8Array(head.length + NONCE_BYTES + plain.length + TAG_BYTES);
  sealed.set(head, 0);
  sealed.set(nonce, head.length);
  sealed.set(cipher.update(plain), head.length + NONCE_BYTES);
  cipher.final();
  sealed.set(cipher.getAuthTag(), sealed.length - TAG_BYTES);
  return sealed;
}

/**
 * @throws UnknownKeyError if the ring has no key with the id that the seal names
 * @throws SealBrokenError if the bytes or the context are not those that were sealed
 */
export function open(keyring: Keyring, sealed: Uint8Array, context: string): Uint8Array {
  const headLength = 2 + (sealed[1] ?? 0);
  const bodyLength = sealed.length - headLength - NONCE_BYTES - TAG_BYTES;
  if (sealed[0] !== VERSION || bodyLength < 0) throw new SealBrokenError();
  const head = sealed.subarray(0, headLength);
  const keyId = keyIdOf(head);
  if (keyId === undefined) throw new SealBrokenError();
  const key = keyring.find(keyId);
  if (key === undefined) throw new UnknownKeyError(keyId);

  const nonce = sealed.subarray(headLength, headLength + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associatedData(head, context))
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const plain = decipher.update(sealed.subarray(headLength + NONCE_BYTES, sealed.length - TAG_BYTES));
    decipher.final();
    return new Uint8Array(plain);
  } catch {
    throw new SealBrokenError();
  }
}

/** The id of the key that sealed these bytes; their first `LONGEST_HEAD` suffice. Undefined if they are not sealed. */
export function keyIdOf(sealed: Uint8Array): string | undefined {
  const keyId = Buffer.from(sealed.subarray(2, 2 + (sealed[1] ?? 0))).toString('latin1');
  return sealed[0] === VERSION && KEY_ID.test(keyId) ? keyId : undefined;
}

/** Bytes: version, length, and the longest key id. */
export const LONGEST_HEAD = 66;

const headOf = (key: PayloadKey): Buffer =>
  Buffer.concat([Uint8Array.of(VERSION, key.id.length), Buffer.from(key.id, 'ascii')]);

function associatedData(head: Uint8Array, context: string): Buffer {
  return Buffer.concat([head, Buffer.from(context, 'utf8')]);
}

/** One call to the generator costs as much as a seal. */
const POOL_BYTES = 3_072;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes that are given out once. A view: copy them before the next call. */
function nextNonce(bytes: number): Uint8Array {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
