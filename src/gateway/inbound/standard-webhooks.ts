import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProfileOptions, SignatureProfile, SignatureVerdict, SignedRequest } from './signatures.js';

/*
 * Standard Webhooks: `webhook-signature: v1,<base64>` = HMAC-SHA256 over `id.timestamp.body`. The public package is the
 * foreign signer of our tests, but not our verifier: it parses timestamps with parseInt ("1700000000abc"), takes bodies as
 * text and so changes bytes that are no UTF-8, and compares the text of signatures.
 */
const PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;
const MAX_SIGNATURES = 8;
const ID = /^[\x21-\x7e]{1,256}$/;
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
/** Versions that we do not know, such as the asymmetric `v1a`, may stand next to ours. */
const OTHER_VERSION = /^v\d{1,3}[a-z]{0,8},[A-Za-z0-9+/=_-]{1,512}$/;

/** Of the secrets, only those that are written as the scheme says (`whsec_…`) are its keys. */
export function createStandardWebhooks({ secrets, nowMs }: ProfileOptions): SignatureProfile {
  const keys = secrets.filter((secret) => secret.startsWith(PREFIX)).map(keyOf);
  return {
    name: 'standard-webhooks',
    verify: (request) => (keys.length === 0 ? 'absent' : verify(request, keys, Math.floor(nowMs() / 1_000))),
  };
}

function verify(request: SignedRequest, keys: readonly Buffer[], nowSeconds: number): SignatureVerdict {
  const signatureHeaders = request.header('webhook-signature');
  if (signatureHeaders.length === 0) return 'absent';
  const id = onlyOne(request.header('webhook-id'), ID);
  const timestamp = onlyOne(request.header('webhook-timestamp'), TIMESTAMP);
  const signatures = onlyOne(signatureHeaders, /^.{1,4096}$/)?.split(' ');
  if (id === undefined || timestamp === undefined || signatures === undefined) return 'invalid';
  const given = signatures.map(signatureBytes);
  if (given.length > MAX_SIGNATURES || given.includes(undefined)) return 'invalid';

  let matches = false;
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.raw).digest();
    for (const bytes of given) {
      if (bytes !== undefined && bytes.length === expected.length)
        matches = timingSafeEqual(bytes, expected) || matches;
    }
  }
  if (!matches) return 'invalid';
  return Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS ? 'stale' : 'valid';
}

function onlyOne(values: readonly string[], form: RegExp): string | undefined {
  const [value] = values;
  return values.length === 1 && value !== undefined && form.test(value) ? value : undefined;
}

/** The bytes of a signature of our version, none for one of another version, undefined for what is no signature. */
function signatureBytes(entry: string): Buffer | undefined {
  const base64 = SIGNATURE.exec(entry)?.[1];
  if (base64 === undefined) return OTHER_VERSION.test(entry) && !entry.startsWith('v1,') ? Buffer.alloc(0) : undefined;
  const bytes = Buffer.from(base64, 'base64');
  // The last character has two bits to spare: four spellings decode to the same bytes, one of them is right.
  return bytes.toString('base64') === base64 ? bytes : undefined;
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
