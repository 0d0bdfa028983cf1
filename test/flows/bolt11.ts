import { randomBytes } from 'node:crypto';

/** Makes Lightning invoices (BOLT 11) that decode; their signature is not valid. */

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const SIGNATURE_WORDS = 104;

export interface Bolt11 {
  /** Null: an invoice without an amount. */
  readonly amountMsat: number | null;
  /** @default the main network */
  readonly network?: string;
  /** @default now */
  readonly createdAtMs?: number;
  /** @default an hour, by the standard's own default */
  readonly expirySeconds?: number;
}

export function bolt11({ amountMsat, network = 'bc', createdAtMs = Date.now(), expirySeconds }: Bolt11): string {
  // A tenth of a msat is what the multiplier `p` counts.
  const prefix = `ln${network}${amountMsat === null ? '' : `${amountMsat * 10}p`}`;
  const words = [
    ...inWords(Math.floor(createdAtMs / 1_000), 7),
    ...tag('p', bytesInWords(randomBytes(32))),
    ...tag('d', bytesInWords(Buffer.from('Canary Description'))),
    ...(expirySeconds === undefined ? [] : tag('x', inWords(expirySeconds, 4))),
    ...Array.from({ length: SIGNATURE_WORDS }, () => 0),
  ];
  return `${prefix}1${[...words, ...checksum(prefix, words)].map((word) => LETTERS[word]).join('')}`;
}

function tag(letter: string, words: readonly number[]): readonly number[] {
  return [LETTERS.indexOf(letter), ...inWords(words.length, 2), ...words];
}

function inWords(value: number, length: number): readonly number[] {
  return Array.from({ length }, (_, at) => Math.floor(value / 32 ** (length - 1 - at)) % 32);
}

function bytesInWords(bytes: Uint8Array): readonly number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.match(/.{1,5}/g)?.map((five) => Number.parseInt(five.padEnd(5, '0'), 2)) ?? [];
}

/** Of BIP 173. */
function checksum(prefix: string, words: readonly number[]): readonly number[] {
  const codes = [...Buffer.from(prefix)];
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  let sum = 1;
  for (const word of [...expanded, ...words, 0, 0, 0, 0, 0, 0]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    GENERATORS.forEach((generator, bit) => {
      if ((top >> bit) & 1) sum ^= generator;
    });
  }
  return inWords((sum ^ 1) >>> 0, 6);
}
