/*
 * What the payload codec puts in place of a payload that it could not authenticate. Workflows import this file: it
 * imports nothing.
 */

/** Came unencrypted, from a sender without our keys. Never set for what we encrypted ourselves. */
export const PLAINTEXT = '__plaintext';

/** Was encrypted, but does not open here. */
export const UNDECODABLE = '__undecodable';

/** @returns whether a signal, update or input came unencrypted. JSON is wrapped unchanged, other data as base64. */
export function isPlaintext(value: unknown): value is { readonly __plaintext: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, PLAINTEXT);
}

/** @returns whether the value could not be decrypted; the member says why, in words for a person. */
export function isUndecodable(value: unknown): value is { readonly __undecodable: string } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, UNDECODABLE);
}

/**
 * For results of activities and child workflows, which only our own workers write. One that cannot be decrypted must
 * not be taken for an answer, nor end the flow: money may have moved. A plain Error (no TemporalFailure) in a workflow
 * fails the workflow task, is shown in the UI, and is retried until a worker that has the key continues. Never use it
 * for messages that anyone may send: drop those instead.
 *
 * @throws Error if the value is not one that our workers encrypted
 */
export function requireDecoded<Value>(value: Value): Value {
  if (isUndecodable(value)) throw new Error(`A result cannot be decrypted here: ${value[UNDECODABLE]}`);
  if (isPlaintext(value)) throw new Error('A result came in the clear');
  return value;
}

/**
 * For inputs and messages. A value that was sealed with a key that this worker does not have (yet) must not be taken
 * for garbage: a plain Error fails the workflow task, which is retried until a worker that has the key continues. A
 * value that is broken under a known key passes, and its reader drops it.
 *
 * @throws Error if the key is unknown here
 */
export function requireKnownKey(value: unknown): void {
  if (isUndecodable(value) && value[UNDECODABLE].startsWith(UNKNOWN_KEY)) {
    throw new Error(`A message cannot be decoded here: ${value[UNDECODABLE]}`);
  }
}

/** Begin of the reason if the key is unknown. */
export const UNKNOWN_KEY = 'unknown key id';
