/** Bytes of a secret for settings outside of development, which refuse a few that repeat; another number, other bytes. */
export const secretBytes = (number: number, length = 32): Buffer =>
  Buffer.from(Array.from({ length }, (_, at) => (at * 31 + number * 7 + 1) % 256));
