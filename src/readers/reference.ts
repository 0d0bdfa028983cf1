const MOST_CHARACTERS = 128;
const REFERENCE = /^[\w.:-]+$/;

/** Whether it can be part of a path of the interface: the service may use others in its own records. */
export const fitsPath = (reference: string): boolean => /^(?!.*\.\.)[A-Za-z0-9]/.test(reference);

/**
 * A reference from outside, the caller's or the service's own: text or a number, without blanks around it. Its case
 * counts. Never throws.
 *
 * @returns undefined if it is none of at most 128 letters, digits and `_ . : -`
 */
export function readReference(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  if (text.length > 2 * MOST_CHARACTERS) return undefined;
  const reference = text.trim();
  return reference.length <= MOST_CHARACTERS && REFERENCE.test(reference) ? reference : undefined;
}
