/*
 * A fingerprint is one MAC or several, newest key first, with a space between: of the same content under each HMAC key
 * that the store had when it was made. So fingerprints from before and after a rotation can be compared.
 */

/** Whether both are of the same content. */
export function sameFingerprint(one: string, other: string): boolean {
  const known = one.split(' ');
  return other.split(' ').some((mac) => known.includes(mac));
}

/** Only the MAC of the newest key, which a row stores. */
export const newestMac = (fingerprint: string): string => fingerprint.split(' ')[0] ?? '';

/** The fingerprint of a claim that was closed before any attempt reserved it: of no content, it identifies no request. */
export const NEVER_RESERVED = '';
