import { cutMember } from './cut-member.js';
import { verifyHmacHeader } from './hmac-header.js';
import type { ProfileOptions, SignatureProfile } from './signature-profile.js';

const HEADER = 'x-kotani-signature';
const MEMBER = 'signature';

/**
 * The service's own way: `X-Kotani-Signature: sha256=<hex>` = HMAC-SHA256 over `JSON.stringify({event, data})`, while the
 * body is `{event, data, signature}`. What was signed is the raw text without that member: to parse it and print it
 * again would change numbers and spellings. The member itself counts for nothing, and may be missing.
 */
export function createJsonHmac({ secrets }: Pick<ProfileOptions, 'secrets'>): SignatureProfile {
  const scheme = { header: HEADER, secrets, signed: (raw: Uint8Array) => cutMember(raw, MEMBER) };
  return { name: 'json-hmac', verify: (request) => verifyHmacHeader(scheme, request) };
}
