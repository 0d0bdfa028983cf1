import { isPlaintext } from '../../src/protocol/plaintext-marker.js';

/** A number in the unchecked input, if it is sensible: timers start before the input was checked. */
export function numberIn(rawInput: unknown, member: string, above: number, most: number): number | undefined {
  const input = isPlaintext(rawInput) ? rawInput.__plaintext : rawInput;
  const value = (input as Record<string, unknown> | null | undefined)?.[member];
  return typeof value === 'number' && value > above && value <= most ? value : undefined;
}
