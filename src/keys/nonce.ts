import { randomFillSync } from 'node:crypto';

/** One call to the generator costs as much as a seal. */
const POOL_BYTES = 3_072;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes that nobody else was or will be given. A view: copy them before the next call. */
export function nextNonce(bytes: number): Uint8Array {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
