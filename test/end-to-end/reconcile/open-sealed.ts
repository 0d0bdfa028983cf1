import { createDecipheriv } from 'node:crypto';

/** By the id that seals name. */
export type PayloadKeys = ReadonlyMap<string, Uint8Array>;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The JSON in a sealed column. @throws Error if it does not open */
export function openSealed(sealed: Uint8Array, place: readonly string[], keys: PayloadKeys): unknown {
  return JSON.parse(openSealedBytes(sealed, place, keys).toString()) as unknown;
}

/**
 * What is sealed for one place: version, length of the key's id, the id, nonce, AES-256-GCM, tag.
 * @throws Error if it does not open
 */
export function openSealedBytes(sealed: Uint8Array, place: readonly string[], keys: PayloadKeys): Buffer {
  const bytes = Buffer.from(sealed);
  const head = bytes.subarray(0, 2 + bytes.readUInt8(1));
  const key = keys.get(head.subarray(2).toString('latin1'));
  if (key === undefined) throw new Error('a row is sealed with a key that the reconciler does not have');
  const from = head.length + NONCE_BYTES;
  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(head.length, from));
  cipher.setAAD(Buffer.concat([head, Buffer.from(JSON.stringify(place))]));
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([cipher.update(bytes.subarray(from, -TAG_BYTES)), cipher.final()]);
}
