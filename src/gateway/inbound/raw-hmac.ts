import { verifyHmacHeader } from './hmac-header.js';
import type { ProfileOptions, SignatureProfile } from './signature-profile.js';

const HEADER = 'x-webhook-signature';

/** `X-Webhook-Signature: sha256=<hex>` = HMAC-SHA256 over the raw body. */
export function createRawHmac({ secrets }: Pick<ProfileOptions, 'secrets'>): SignatureProfile {
  const scheme = { header: HEADER, secrets, signed: (raw: Uint8Array) => [raw] };
  return { name: 'raw-hmac', verify: (request) => verifyHmacHeader(scheme, request) };
}
