import { createHash } from 'node:crypto';
import { recoverPublicKey, verify } from '@noble/secp256k1';
import { bech32 } from '@scure/base';

/** The content of a BOLT 11 invoice whose checksum, fields and signature were checked. */
export interface LightningInvoice {
  readonly network: LightningNetwork;
  /** Decimal text. Null: the payer chooses. */
  readonly amountMsat: string | null;
  /** 64 hexadecimal digits in lower case. */
  readonly paymentHash: string;
  /** Public key of the node that is paid, which signed it: 66 hexadecimal digits in lower case. */
  readonly payee: string;
  readonly createdAtMs: number;
  /** At most a year after it was made. */
  readonly expiresAtMs: number;
}

/** `bc` is the main network; on the others the coins are worth nothing. */
export type LightningNetwork = 'bc' | 'tb' | 'tbs' | 'bcrt';

/** The main network of Bitcoin; the others are for trying out, with a service on loopback. */
export const MAIN_NETWORK: LightningNetwork = 'bc';

/** Why a text is no invoice that may be paid: a sentence for the person who gave it. */
export const INVOICE_FAULTS = {
  'not-an-invoice': 'It is no Lightning invoice (BOLT 11), or a character of it is wrong.',
  prefix: 'It is an invoice of an unknown network or currency.',
  amount: 'Its amount cannot be read.',
  'cut-off': 'It is cut off: a field of it is longer than the rest.',
  'field-length': 'Its payment hash, payment secret, description hash or payee has a wrong length.',
  'repeated-field': 'It has a field twice that it may have only once: it could mean two payments.',
  'no-payment-hash': 'It names no payment hash.',
  'no-payment-secret': 'It names no payment secret.',
  description: 'It must have a description or the hash of one, and not both.',
  'leading-zeros': 'A number in it is written with zeros in front.',
  feature: 'It requires a feature that is not known, or lacks one that another needs.',
  expiry: 'It expires more than a year after it was made.',
  signature: 'Its signature is not valid.',
} as const;
export type InvoiceFault = keyof typeof INVOICE_FAULTS;

/** Longer ones fit into no QR code. */
const MOST_CHARACTERS = 4_296;
const FORM = /^ln(bcrt|bc|tbs|tb)(.*)$/;
const AMOUNT = /^([1-9]\d{0,18})([munp]?)$/;
/** Tenths of a msat in one of each unit: `p` counts those. */
const TENTHS: Readonly<Record<string, bigint>> = {
  '': 1_000_000_000_000n,
  m: 1_000_000_000n,
  u: 1_000_000n,
  n: 1_000n,
  p: 1n,
};
const ALL_BITCOIN_MSAT = 21_000_000n * 100_000_000_000n;

const TIMESTAMP_WORDS = 7;
const SIGNATURE_WORDS = 104;
const HEADER_WORDS = 3;

/** Types of the fields, as their letter in bech32 counts. Those that are not listed are skipped, as are `f` and `r`. */
const [P, X, FEATURES, D, S, N, H, C, M] = [1, 6, 5, 13, 16, 19, 23, 24, 27] as const;
const ONCE: readonly number[] = [P, X, FEATURES, D, S, N, H, C, M];
const WORDS_OF_256_BITS = 52;
const FIXED_LENGTH: ReadonlyMap<number, number> = new Map([
  [P, WORDS_OF_256_BITS],
  [S, WORDS_OF_256_BITS],
  [H, WORDS_OF_256_BITS],
  [N, 53],
]);
/** "begins with 0 field elements" makes one of these invalid. */
const MINIMAL: readonly number[] = [X, FEATURES, C];

/** The even bits that a payer has to understand, and that BOLT 9 defines for invoices. */
const [PAYMENT_SECRET, BASIC_MPP] = [14, 16] as const;
const KNOWN_FEATURES: readonly number[] = [8, PAYMENT_SECRET, BASIC_MPP, 24, 36, 48];

/** "default is 3600 (1 hour) if not specified" (BOLT 11). */
const DEFAULT_EXPIRY_SECONDS = 3_600;
const YEAR_SECONDS = 31_536_000;
/** More words than those of a year. */
const MOST_EXPIRY_WORDS = 6;

/**
 * Reads a Lightning invoice by all that BOLT 11 says a reader must refuse, in any case, with or without `lightning:` in
 * front. The hash of a description is not compared with the description, which is not in it. Never throws.
 *
 * @returns the invoice, or the name of what is wrong with it
 */
export function readLightningInvoice(text: unknown): LightningInvoice | InvoiceFault {
  if (typeof text !== 'string' || text.length > MOST_CHARACTERS) return 'not-an-invoice';
  const decoded = bech32.decodeUnsafe(text.trim().replace(/^lightning:/i, ''), false);
  if (decoded === undefined || !decoded.prefix.startsWith('ln')) return 'not-an-invoice';
  const [, network, amount = ''] = FORM.exec(decoded.prefix) ?? [];
  if (network === undefined) return 'prefix';
  const amountMsat = amountOf(amount);
  if (amountMsat === undefined) return 'amount';

  const { words } = decoded;
  if (words.length < TIMESTAMP_WORDS + SIGNATURE_WORDS) return 'cut-off';
  const [signed, signature] = [words.slice(0, -SIGNATURE_WORDS), words.slice(-SIGNATURE_WORDS)];
  const fields = fieldsIn(signed.slice(TIMESTAMP_WORDS));
  if (fields === undefined) return 'cut-off';
  const fault = faultOf(fields);
  if (fault !== undefined) return fault;

  const only = (type: number) => fields.find((field) => field.type === type)?.words;
  const expiry = only(X);
  const expirySeconds = expiry === undefined ? DEFAULT_EXPIRY_SECONDS : numberIn(expiry);
  if ((expiry?.length ?? 0) > MOST_EXPIRY_WORDS || expirySeconds > YEAR_SECONDS) return 'expiry';
  const payee = signerOf(decoded.prefix, signed, signature, only(N));
  if (payee === undefined) return 'signature';
  const createdAtMs = numberIn(signed.slice(0, TIMESTAMP_WORDS)) * 1_000;
  return {
    network: network as LightningNetwork,
    amountMsat,
    paymentHash: hex(bytesIn(only(P) ?? [])),
    payee,
    createdAtMs,
    expiresAtMs: createdAtMs + expirySeconds * 1_000,
  };
}

/** Null: it has none. Undefined: it cannot be read, or counts parts of a msat, or is more than there is. */
function amountOf(text: string): string | null | undefined {
  if (text === '') return null;
  const [, digits = '', unit = ''] = AMOUNT.exec(text) ?? [];
  const tenths = digits === '' ? undefined : BigInt(digits) * (TENTHS[unit] ?? 0n);
  if (tenths === undefined || tenths % 10n !== 0n || tenths / 10n > ALL_BITCOIN_MSAT) return undefined;
  return (tenths / 10n).toString();
}

interface Field {
  readonly type: number;
  readonly words: readonly number[];
}

/** Undefined if the last one does not end where it says. */
function fieldsIn(words: readonly number[]): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  while (at < words.length) {
    const [type = 0, high = 0, low = 0] = words.slice(at, at + HEADER_WORDS);
    const start = at + HEADER_WORDS;
    at = start + high * 32 + low;
    if (at > words.length) return undefined;
    fields.push({ type, words: words.slice(start, at) });
  }
  return fields;
}

function faultOf(fields: readonly Field[]): InvoiceFault | undefined {
  const count = (type: number) => fields.filter((field) => field.type === type).length;
  const isOdd = ({ type, words }: Field) => words.length !== (FIXED_LENGTH.get(type) ?? words.length);
  if (fields.some(isOdd)) return 'field-length';
  if (ONCE.some((type) => count(type) > 1)) return 'repeated-field';
  if (count(P) === 0) return 'no-payment-hash';
  if (count(S) === 0) return 'no-payment-secret';
  if (count(D) + count(H) !== 1) return 'description';
  if (fields.some(({ type, words }) => MINIMAL.includes(type) && words[0] === 0)) return 'leading-zeros';
  const features = fields.filter(({ type }) => type === FEATURES).flatMap(({ words }) => bitsIn(words));
  return areUnderstood(features) ? undefined : 'feature';
}

/** Even bits are required: each must be known. The odd one above says the same without requiring it. */
function areUnderstood(bits: readonly number[]): boolean {
  const has = (feature: number) => bits.includes(feature) || bits.includes(feature + 1);
  const required = bits.filter((bit) => bit % 2 === 0);
  return required.every((bit) => KNOWN_FEATURES.includes(bit)) && (!has(BASIC_MPP) || has(PAYMENT_SECRET));
}

/** Positions of the bits that are set; 0 is the last one. */
const bitsIn = (words: readonly number[]): readonly number[] =>
  words
    .toReversed()
    .flatMap((word, at) => [0, 1, 2, 3, 4].filter((bit) => (word >> bit) & 1).map((bit) => at * 5 + bit));

const numberIn = (words: readonly number[]): number => words.reduce((value, word) => value * 32 + word, 0);

/** Whole bytes: the bits that fill the last word are left out. */
function bytesIn(words: readonly number[]): Uint8Array {
  return paddedBytesIn(words).subarray(0, Math.floor((words.length * 5) / 8));
}

/** With zeros up to the next byte. */
function paddedBytesIn(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((words.length * 5) / 8));
  words.forEach((word, at) => {
    const shift = 11 - ((at * 5) % 8);
    const first = Math.floor((at * 5) / 8);
    bytes[first] = (bytes[first] ?? 0) | ((word << shift) >> 8);
    if (first + 1 < bytes.length) bytes[first + 1] = (word << shift) & 0xff;
  });
  return bytes;
}

/**
 * Who signed it. An invoice that names its payee must have that one's signature, in the low-S form; else the key is
 * recovered from the signature, in either form. Undefined if the signature is not valid.
 */
function signerOf(
  prefix: string,
  signed: readonly number[],
  signature: readonly number[],
  named: readonly number[] | undefined,
): string | undefined {
  const digest = createHash('sha256').update(prefix).update(paddedBytesIn(signed)).digest();
  const bytes = bytesIn(signature);
  const [compact, recovery = 0] = [bytes.subarray(0, 64), bytes[64]];
  try {
    if (named === undefined) {
      const recoverable = Uint8Array.of(recovery, ...compact);
      return hex(recoverPublicKey(recoverable, digest, { prehash: false }));
    }
    const key = bytesIn(named);
    return verify(compact, digest, key, { prehash: false, lowS: true }) ? hex(key) : undefined;
  } catch {
    return undefined;
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
