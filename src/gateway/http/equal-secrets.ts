import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in constant time, whatever the lengths: `timingSafeEqual` itself throws where they differ. */
export function equalSecrets(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected)) && given.length === expected.length;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
