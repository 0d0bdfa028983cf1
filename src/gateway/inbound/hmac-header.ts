import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignatureVerdict, SignedRequest } from './signature-profile.js';

/** One spelling: `sha256=` and lower-case hex. */
const FORM = /^sha256=([0-9a-f]{64})$/;

/** A signature that says nothing of when it was made, or of which delivery: a replay is told by its content alone. */
export interface HmacHeader {
  readonly header: string;
  /** The text of each secret, as it stands, is a key. */
  readonly secrets: readonly string[];
  /** What was signed, in pieces; undefined where the body cannot have been signed in this way. */
  readonly signed: (raw: Uint8Array) => readonly Uint8Array[] | undefined;
}

/** HMAC-SHA256 in a header of its own, compared in constant time, with every key. */
export function verifyHmacHeader({ header, secrets, signed }: HmacHeader, request: SignedRequest): SignatureVerdict {
  const values = request.header(header);
  if (values.length === 0 || secrets.length === 0) return 'absent';
  const hex = values.length === 1 ? FORM.exec(values[0] ?? '')?.[1] : undefined;
  const pieces = signed(request.raw);
  if (hex === undefined || pieces === undefined) return 'invalid';

  const given = Buffer.from(hex, 'hex');
  let matches = false;
  for (const secret of secrets) {
    const mac = createHmac('sha256', secret);
    for (const piece of pieces) mac.update(piece);
    matches = timingSafeEqual(given, mac.digest()) || matches;
  }
  return matches ? 'valid' : 'invalid';
}
