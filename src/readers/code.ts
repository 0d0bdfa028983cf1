const MOST_CHARACTERS = 64;
const CODE = /^[A-Z0-9_.:-]+$/;

/**
 * A code from outside (a currency, a chain, a token, a status, a stage) in the spelling of the interface: capitals, and
 * an underline for blanks inside. Never throws.
 *
 * @returns undefined if it is no code of at most 64 characters of ASCII
 */
export function readCode(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 2 * MOST_CHARACTERS) return undefined;
  const code = value
    .trim()
    .replaceAll(/[\t ]+/g, '_')
    .toUpperCase();
  // "ß".toUpperCase() is "SS": only what was ASCII before counts.
  return code.length <= MOST_CHARACTERS && CODE.test(code) && isAscii(value.trim()) ? code : undefined;
}

const isAscii = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);
