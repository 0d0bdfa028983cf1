import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Settings, WebhookProfile } from '../../config/settings-shape.js';
import type { Live } from '../../config/index.js';

/*
 * Standard Webhooks: `webhook-signature: v1,<base64>` = HMAC-SHA256 over `id.timestamp.body`. The public package is the
 * independent signer of our tests, but not our verifier: it parses timestamps with parseInt ("1700000000abc"), takes
 * bodies as text and so changes bytes that are not UTF-8, and compares the text of signatures.
 */
const PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;
const MAX_SIGNATURES = 8;
const ID = /^[\x21-\x7e]{1,256}$/;
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
/** Versions that we do not know, such as the asymmetric `v1a`, may be next to ours. */
const OTHER_VERSION = /^v\d{1,3}[a-z]{0,8},[A-Za-z0-9+/=_-]{1,512}$/;

/** Only secrets in the scheme's form (`whsec_…`) are its keys. */
export const verifyStandardWebhook: Verify = (request, secrets, nowMs) => {
  const keys = secrets.filter((secret) => secret.startsWith(PREFIX));
  const signatureHeaders = request.header('webhook-signature');
  if (keys.length === 0 || signatureHeaders.length === 0) return 'absent';
  const id = onlyOne(request.header('webhook-id'), ID);
  const timestamp = onlyOne(request.header('webhook-timestamp'), TIMESTAMP);
  const signatures = onlyOne(signatureHeaders, /^.{1,4096}$/)?.split(' ');
  if (id === undefined || timestamp === undefined || signatures === undefined) return 'invalid';
  const given = signatures.map(signatureBytes);
  if (given.length > MAX_SIGNATURES || given.includes(undefined)) return 'invalid';

  const signed = [Buffer.from(`${id}.${timestamp}.`), request.raw];
  const macs = keys.map((key) => hmac(Buffer.from(key.slice(PREFIX.length), 'base64'), signed));
  if (!isAnyOf(macs, given)) return 'invalid';
  return Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) > TOLERANCE_SECONDS ? 'stale' : 'valid';
};

function hmac(key: string | Buffer, pieces: readonly Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const piece of pieces) mac.update(piece);
  return mac.digest();
}

/** In constant time: every pair is compared. */
function isAnyOf(macs: readonly Buffer[], given: readonly (Buffer | undefined)[]): boolean {
  const equal = macs.flatMap((mac) => given.map((one) => one?.length === mac.length && timingSafeEqual(one, mac)));
  return equal.includes(true);
}

function onlyOne(values: readonly string[], form: RegExp): string | undefined {
  const [value] = values;
  return values.length === 1 && value !== undefined && form.test(value) ? value : undefined;
}

/** The bytes of a signature of our version, none for one of another version, undefined if it is not a signature. */
function signatureBytes(entry: string): Buffer | undefined {
  const base64 = SIGNATURE.exec(entry)?.[1];
  if (base64 === undefined) return OTHER_VERSION.test(entry) && !entry.startsWith('v1,') ? Buffer.alloc(0) : undefined;
  const bytes = Buffer.from(base64, 'base64');
  // The last character has two spare bits: four spellings decode to the same bytes, and only one of them is right.
  return bytes.toString('base64') === base64 ? bytes : undefined;
}

/** `X-Webhook-Signature: sha256=<hex>` = HMAC-SHA256 over the raw body. */
export const verifyRawHmac: Verify = (request, secrets) =>
  verifyHmacHeader(request, 'x-webhook-signature', secrets, (raw) => [raw]);

/**
 * The service's own scheme: `X-Kotani-Signature: sha256=<hex>` = HMAC-SHA256 over `JSON.stringify({event, data})`,
 * while the body is `{event, data, signature}`. The signed text is the raw text without that member: parsing and
 * printing it again would change numbers and spellings. The member itself is ignored, and may be missing.
 */
export const verifyJsonHmac: Verify = (request, secrets) =>
  verifyHmacHeader(request, 'x-kotani-signature', secrets, (raw) => cutMember(raw, 'signature'));

const WORST_FIRST = ['invalid', 'stale', 'valid'] as const satisfies readonly SignatureVerdict[];

/**
 * Accepts any of the signatures. Each profile has a header of its own; if several come, a wrong one invalidates the
 * rest. A request without any is `absent`: then only the capability in its URL can prove it.
 */
export const verifyAny: Verify = (...signed) => {
  const verdicts = [verifyStandardWebhook, verifyRawHmac, verifyJsonHmac].map((verify) => verify(...signed));
  return WORST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'absent';
};

/** The words of `WEBHOOK_PROFILE`. */
const PROFILES: Readonly<Record<WebhookProfile, Verify>> = {
  'standard-webhooks': verifyStandardWebhook,
  'raw-hmac': verifyRawHmac,
  'json-hmac': verifyJsonHmac,
  unsigned: () => 'absent',
  auto: verifyAny,
};

/** Verifies with the secrets that are known now. */
export type SignatureCheck = (request: SignedRequest) => SignatureVerdict;

export interface Profiles {
  /** Of the service, for callbacks and account webhooks. */
  readonly service: SignatureCheck;
  readonly settlement: SignatureCheck;
  /** Whether there are secrets with which the service can sign. */
  serviceCanSign(): boolean;
}

export function createProfiles(
  settings: Pick<Settings, 'webhookProfile'>,
  /** Secrets of the service and of the provider; read for every event. */
  secrets: { readonly webhook: Live<readonly string[]>; readonly settlement: Live<readonly string[]> },
  nowMs: () => number,
): Profiles {
  const withLive =
    (verify: Verify, live: Live<readonly string[]>): SignatureCheck =>
    (request) => {
      const verdict = verify(request, live(), nowMs());
      // It may be under a secret of this very moment.
      return verdict === 'invalid' ? verify(request, live('now'), nowMs()) : verdict;
    };
  return {
    service: withLive(PROFILES[settings.webhookProfile], secrets.webhook),
    settlement: withLive(verifyStandardWebhook, secrets.settlement),
    serviceCanSign: () => secrets.webhook().length > 0,
  };
}

/** One spelling: `sha256=` and lower-case hex. */
const FORM = /^sha256=[0-9a-f]{64}$/;

/**
 * A signature without a time or a delivery id: a replay is recognised only by its content.
 * @param secrets the text of each, unchanged, is a key
 * @param signed the signed bytes, in pieces; undefined if the body cannot have been signed in this way
 */
function verifyHmacHeader(
  request: SignedRequest,
  header: string,
  secrets: readonly string[],
  signed: (raw: Uint8Array) => readonly Uint8Array[] | undefined,
): SignatureVerdict {
  const values = request.header(header);
  if (values.length === 0 || secrets.length === 0) return 'absent';
  const hex = onlyOne(values, FORM)?.slice('sha256='.length);
  const pieces = signed(request.raw);
  if (hex === undefined || pieces === undefined) return 'invalid';
  const macs = secrets.map((secret) => hmac(secret, pieces));
  return isAnyOf(macs, [Buffer.from(hex, 'hex')]) ? 'valid' : 'invalid';
}

/** The input of a profile: raw bytes, and every value of a header, since two values are a trick. */
interface SignedRequest {
  readonly raw: Uint8Array;
  header(name: string): readonly string[];
}

/**
 * `absent`: nothing that this profile could check. `stale`: genuine, but too old or too new, so that it may be a
 * replay: kept without proof. `invalid` is never stored.
 */
export type SignatureVerdict = 'valid' | 'stale' | 'invalid' | 'absent';

/**
 * One way of signing webhooks. A new one is a function here and a line in `PROFILES`.
 * @param secrets any of them may have signed: two are valid during a rotation
 */
export type Verify = (request: SignedRequest, secrets: readonly string[], nowMs: number) => SignatureVerdict;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The bytes of an object's text without one member of its top level and one comma next to it; all of them if it has no
 * such member. The caller has parsed the text already: this only finds positions in it. The name is compared as it is
 * written, so another spelling of it (`\u0073ignature`) is another member.
 *
 * Undefined if the member is present twice.
 */
export function cutMember(raw: Uint8Array, name: string): readonly Uint8Array[] | undefined {
  const found = topLevelMembers(raw).filter(({ start }) => isNamed(raw, start, name));
  const [member, another] = found;
  if (member === undefined) return [raw];
  if (another !== undefined) return undefined;
  const isFirst = raw[member.start - 1] !== COMMA;
  const start = isFirst ? member.start : member.start - 1;
  const end = isFirst && raw[member.end] === COMMA ? member.end + 1 : member.end;
  return [raw.subarray(0, start), raw.subarray(end)];
}

/** From the opening quote of each name to the comma or brace behind its value. All structure of JSON is ASCII. */
function topLevelMembers(raw: Uint8Array): readonly Span[] {
  const members: Span[] = [];
  let depth = 0;
  let start: number | undefined;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (byte === QUOTE) {
      if (depth === 1) start ??= at;
      at = endOfString(raw, at);
    } else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d || (byte === COMMA && depth === 1)) {
      if (depth === 1 && start !== undefined) {
        members.push({ start, end: at });
        start = undefined;
      }
      if (byte !== COMMA) depth -= 1;
    }
  }
  return members;
}

function endOfString(raw: Uint8Array, opening: number): number {
  let at = opening + 1;
  while (at < raw.length && raw[at] !== QUOTE) at += raw[at] === BACKSLASH ? 2 : 1;
  return at;
}

function isNamed(raw: Uint8Array, start: number, name: string): boolean {
  const written = Buffer.from(`"${name}"`);
  return (
    Buffer.from(raw.subarray(start, start + written.length)).equals(written) && raw[start + written.length] === COLON
  );
}
