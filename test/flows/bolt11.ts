import { createHash, createHmac, randomBytes } from 'node:crypto';
import { getPublicKey, hashes, sign } from '@noble/secp256k1';

/** Makes Lightning invoices (BOLT 11), well-formed or with chosen fields, each signed. */

hashes.sha256 = (message) => new Uint8Array(createHash('sha256').update(message).digest());
hashes.hmacSha256 = (key, message) => new Uint8Array(createHmac('sha256', key).update(message).digest());

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** `var_onion_optin` and `payment_secret`. */
const USUAL_FEATURES = [8, 14];

export interface Bolt11 {
  /** Null: an invoice without an amount. */
  readonly amountMsat: number | null;
  /** @default the main network */
  readonly network?: string;
  /** @default now */
  readonly createdAtMs?: number;
  /** @default an hour, by the standard's own default */
  readonly expirySeconds?: number;
  /** 64 hexadecimal digits. @default a new one */
  readonly paymentHash?: string;
}

export function bolt11({ amountMsat, network = 'bc', createdAtMs, expirySeconds, paymentHash }: Bolt11): string {
  return invoiceOf(
    // A tenth of a msat is what the multiplier `p` counts.
    `ln${network}${amountMsat === null ? '' : `${amountMsat * 10}p`}`,
    [
      ...usualFields(paymentHash),
      ...(expirySeconds === undefined ? [] : [field('x', shortest(expirySeconds))]),
      featureField(...USUAL_FEATURES),
    ],
    createdAtMs === undefined ? {} : { createdAtMs },
  );
}

type Words = readonly number[];

/** Payment hash, payment secret, description. */
export const usualFields = (paymentHash = randomBytes(32).toString('hex')): readonly Words[] => [
  field('p', bytesInWords(Buffer.from(paymentHash, 'hex'))),
  field('s', bytesInWords(randomBytes(32))),
  field('d', bytesInWords(Buffer.from('Canary Description'))),
];

export function field(letter: string, words: Words, saidLength = words.length): Words {
  return [LETTERS.indexOf(letter), ...inWords(saidLength, 2), ...words];
}

export const featureField = (...bits: readonly number[]): Words => {
  const length = Math.floor(Math.max(...bits) / 5) + 1;
  const set = Array.from({ length }, (_, word) => bits.filter((bit) => Math.floor(bit / 5) === length - 1 - word));
  return field(
    '9',
    set.map((some) => some.reduce((word, bit) => word | (1 << (bit % 5)), 0)),
  );
};

/** The key of the node that signs them. */
const SECRET_KEY = Buffer.alloc(32, 7);
export const PAYEE = Buffer.from(getPublicKey(SECRET_KEY)).toString('hex');
export const payeeField = (key = PAYEE): Words => field('n', bytesInWords(Buffer.from(key, 'hex')));

export interface Signing {
  readonly createdAtMs?: number;
  readonly highS?: boolean;
  /** Another content than the signed one. */
  readonly signedAs?: string;
}

/** An invoice of any fields, signed. */
export function invoiceOf(
  prefix: string,
  fields: readonly Words[],
  { createdAtMs = Date.now(), highS = false, signedAs = prefix }: Signing = {},
): string {
  const words = [...inWords(Math.floor(createdAtMs / 1_000), 7), ...fields.flat()];
  const digest = createHash('sha256').update(signedAs).update(wordsInBytes(words)).digest();
  const signed = sign(digest, SECRET_KEY, { prehash: false, format: 'recovered' });
  const [recovery = 0, ...compact] = highS ? withHighS(signed) : signed;
  return invoiceOfWords(prefix, [...words, ...bytesInWords(Uint8Array.of(...compact, recovery))]);
}

export const invoiceOfWords = (prefix: string, words: Words): string =>
  `${prefix}1${[...words, ...checksum(prefix, words)].map((word) => LETTERS[word]).join('')}`;

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature of the same content. */
function withHighS(signed: Uint8Array): Uint8Array {
  const s = ORDER - BigInt(`0x${Buffer.from(signed.subarray(33)).toString('hex')}`);
  const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex');
  return Uint8Array.of((signed[0] ?? 0) ^ 1, ...signed.subarray(1, 33), ...bytes);
}

export function inWords(value: number, length: number): Words {
  return Array.from({ length }, (_, at) => Math.floor(value / 32 ** (length - 1 - at)) % 32);
}

export const shortest = (value: number): Words => inWords(value, Math.max(1, Math.ceil(Math.log2(value + 1) / 5)));

const bits = (values: Iterable<number>, width: number) =>
  [...values].map((value) => value.toString(2).padStart(width, '0')).join('');

export function bytesInWords(bytes: Uint8Array): Words {
  return (
    bits(bytes, 8)
      .match(/.{1,5}/g)
      ?.map((five) => Number.parseInt(five.padEnd(5, '0'), 2)) ?? []
  );
}

function wordsInBytes(words: Words): Uint8Array {
  const eights = bits(words, 5).match(/.{1,8}/g) ?? [];
  return Uint8Array.from(eights.map((eight) => Number.parseInt(eight.padEnd(8, '0'), 2)));
}

/** Of BIP 173. */
function checksum(prefix: string, words: Words): Words {
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
