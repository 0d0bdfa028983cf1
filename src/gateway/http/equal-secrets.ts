import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time; `timingSafeEqual` itself throws where the lengths differ, which are no secret. */
export function equalSecrets(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}
