/** Longer than every hash and every address of the chains that the interface names, but for Lightning. */
const MOST_CHARACTERS = 200;
/** Of a Lightning invoice: longer ones fit into no QR code. */
const MOST_OF_INVOICE = 4_296;
/** Letters of a checksum or not: hexadecimal digits mean the same in either case. Without 0x, as long as a hash is. */
const HEX = /^0x([0-9a-f]+)$|^([0-9a-f]{32,})$/;
/** BIP 173: in one case, either. */
const BECH32 = /^[a-z_]{1,83}1[02-9ac-hj-np-z]{6,}$/;

/** BOLT 11, with the amount in front of the 1. */
const INVOICE = /^(?:lightning:)?(ln(?:bcrt|bc|tbs|tb)[0-9munp]{0,21}1[02-9ac-hj-np-z]{6,})$/;

/**
 * A hash from outside, in one spelling: hexadecimal digits in lower case without `0x`, without blanks. Of other forms
 * (the base58 of some chains) the case counts. Never throws.
 *
 * @returns undefined if it is no word of letters, digits, `_` and `-`
 */
export function readHash(value: unknown): string | undefined {
  const text = withoutBlanks(value);
  const [, prefixed, bare] = (text !== undefined && HEX.exec(text.toLowerCase())) || [];
  return prefixed ?? bare ?? (text !== undefined && /^[\w-]+$/.test(text) ? text : undefined);
}

/**
 * The address of a wallet from outside, in one spelling, to be compared: hexadecimal with `0x` and bech32 in lower case,
 * since their case is at most a checksum; of other forms the case counts. A Lightning invoice is one, without
 * `lightning:`. Without blanks. Never throws.
 *
 * @returns undefined if it is no text, or too long
 */
export function readAddress(value: unknown): string | undefined {
  const text = withoutBlanks(value, MOST_OF_INVOICE);
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  const [, invoice] = INVOICE.exec(lower) ?? [];
  if (invoice !== undefined || text.length > MOST_CHARACTERS) return invoice;
  const isOneCase = text === lower || text === text.toUpperCase();
  return /^0x[0-9a-f]+$/.test(lower) || (isOneCase && BECH32.test(lower)) ? lower : text;
}

/** An address of our own, of any form, in the spelling of `readAddress`. */
export const plainAddress = (address: string): string => readAddress(address) ?? address;

function withoutBlanks(value: unknown, most = MOST_CHARACTERS): string | undefined {
  if (typeof value !== 'string' || value.length > most) return undefined;
  return value.replaceAll(/\s/g, '') || undefined;
}
