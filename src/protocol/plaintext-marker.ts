/*
 * What the payload codec puts in the place of a payload that it could not vouch for. Workflows import this file: it
 * imports nothing.
 */

/** Came in the clear, from a sender without our keys. Never set by what we encrypted ourselves. */
export const PLAINTEXT = '__plaintext';

/** Was encrypted, but does not open here. */
export const UNDECODABLE = '__undecodable';

/** @returns whether a signal, update or input came in the clear. JSON is wrapped as it was, other data as base64. */
export function isPlaintext(value: unknown): value is { readonly __plaintext: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, PLAINTEXT);
}

/** @returns whether the value could not be decrypted; the member says why, in words for a person. */
export function isUndecodable(value: unknown): value is { readonly __undecodable: string } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, UNDECODABLE);
}

/**
 * For results of activities and child workflows, which only our own workers write. One that does not open must
 * not be taken for an answer, nor end the flow: money may have moved. A plain Error (no TemporalFailure) in a workflow
 * fails the workflow task, is shown in the UI, and is retried until a worker that has the key goes on from there.
 * For messages that anybody may send, never use it: drop them instead.
 *
 * @throws Error where the value is not what one of our workers encrypted
 */
export function requireDecoded<Value>(value: Value): Value {
  if (isUndecodable(value)) throw new Error(`A result cannot be decrypted here: ${value[UNDECODABLE]}`);
  if (isPlaintext(value)) throw new Error('A result came in the clear');
  return value;
}

/**
 * For inputs and messages. One that was sealed with a key that this worker does not have (yet) must not be taken for
 * rubbish: a plain Error fails the workflow task, which is retried until a worker that has the key goes on. What is
 * broken under a known key passes, and is dropped by its reader.
 *
 * @throws Error where the key is unknown here
 */
export function requireKnownKey(value: unknown): void {
  if (isUndecodable(value) && value[UNDECODABLE].startsWith(UNKNOWN_KEY)) {
    throw new Error(`A message cannot be decoded here: ${value[UNDECODABLE]}`);
  }
}

/** How the reason begins where the key is unknown. */
export const UNKNOWN_KEY = 'unknown key id';
