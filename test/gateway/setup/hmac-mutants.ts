import { createHmac } from 'node:crypto';
import { PROFILES } from '../../../src/sandbox/deliveries/signing.js';
import type { Random } from '../../harness/random.js';
import type { Mutant } from './signature-mutants.js';

/** The profiles whose header is `sha256=<hex>`, by the sandbox's names: it is the sender. */
const HMAC_HEADERS = { 'raw-hmac': 'x-webhook-signature', kotani: 'x-kotani-signature' } as const;
export type HmacProfile = keyof typeof HMAC_HEADERS;

const HEX = '0123456789abcdef';
const EVENT = 'transaction.deposit.status.updated';

/** A genuine delivery as the sandbox sends it. */
export function sentBy(profile: keyof typeof PROFILES, secret: string, data: unknown) {
  const body = JSON.stringify({ event: EVENT, data });
  const outgoing = { webhookId: 'msg_1', event: EVENT, body, signed: body };
  return PROFILES[profile](outgoing, { secret, integratorId: 'INT-1', wallNow: Date.now });
}

/** Each makes another signature from a right one. None decodes to the same bytes in the one accepted spelling. */
const HEADERS: readonly ((hex: string, random: Random) => string | string[])[] = [
  (hex, random) => {
    const at = random.below(64);
    return `sha256=${hex.slice(0, at)}${HEX[(HEX.indexOf(hex[at] ?? '') + 1 + random.below(15)) % 16]}${hex.slice(at + 1)}`;
  },
  (hex, random) => `sha256=${hex.slice(0, random.below(64))}`,
  (hex, random) => `sha256=${hex}${'0'.repeat(1 + random.below(64))}`,
  (hex) => [`sha256=${hex}`, `sha256=${hex}`],
  (hex) => [`sha256=${hex}`, 'sha256=00'],
  (hex) => `sha256=${hex},sha256=${hex}`,
  (hex) => `sha256=${hex} sha256=${hex}`,
  (hex) => `sha256=0x${hex}`,
  (hex) => `sha256= ${hex}`,
  (hex) => `SHA256=${hex}`,
  (hex) => `sha1=${hex}`,
  (hex) => `sha512=${hex}`,
  (hex) => hex,
  (hex) => `sha256:${hex}`,
  (hex) => `sha256=sha256=${hex}`,
  (hex) => `sha256=${Buffer.from(hex, 'hex').toString('base64')}`,
  (hex) => `sha256=${hex}\u00e9`,
  (hex) => `sha256=${hex.replace(/[a-f]/, (letter) => letter.toUpperCase())}A`,
  (hex) => `"sha256=${hex}"`,
  () => '',
  () => 'sha256=',
  () => `sha256=${'0'.repeat(64)}`,
  (_, random) => `sha256=${Array.from({ length: 64 }, () => random.pick(HEX.split(''))).join('')}`,
];

/** Each makes another body from a genuine one, whose signature it keeps. */
const BODIES: readonly ((body: string, random: Random) => string | Buffer)[] = [
  (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]),
  (body) => `${body}\n`,
  (body) => ` ${body}`,
  (body) => JSON.stringify(JSON.parse(body), null, 1),
  (body) => body.replace('"event":', '"event": '),
  (body) => body.replace(/^\{("event":"[^"]*"),/, '{').replace(/\}$/, ',"event":"other"}'),
  (body) => body.replace('"status"', '"\\u0073tatus"'),
  (body) => body.replace(/\}$/, ',"status":"FAILED"}'),
  (body) => body.replace(/^\{/, '{"status":"FAILED",'),
  (body) => body.replace('"data":{', '"data":{"signature":"x",'),
  (body) => body.replace('SUCCESSFUL', 'FAILED'),
  (body) => body.replace('"amount":12.5', '"amount":12.50'),
  (body) => body.replace('"amount":12.5', '"amount":"12.5"'),
  (body) => body.replace(/\}$/, ',"signature ":"x"}'),
  (body) => Buffer.from(body, 'utf16le'),
  (body, random) => {
    // The service's own member is covered by nothing; a change of its value alone is no change of the event.
    const bytes = Buffer.from(body.replace(/,"signature":"[0-9a-f]+"\}$/, '}'));
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(7));
    return bytes;
  },
];

/** `count` mutants of genuine deliveries of the sandbox, every mutation in turn, and signatures by keys close to the right one. */
export function* hmacMutants(profile: HmacProfile, secret: string, count: number, random: Random): Generator<Mutant> {
  const header = HMAC_HEADERS[profile];
  for (let n = 0; n < count; n += 1) {
    const genuine = sentBy(profile, secret, { reference_id: `m-${n}`, status: 'SUCCESSFUL', amount: 12.5 });
    const hex = (genuine.headers[header] ?? '').slice('sha256='.length);
    const turn = n % (HEADERS.length + BODIES.length + KEYS.length);
    const change = HEADERS[turn];
    const rewrite = BODIES[turn - HEADERS.length];
    const key = KEYS[turn - HEADERS.length - BODIES.length];
    if (change !== undefined)
      yield { headers: { ...genuine.headers, [header]: change(hex, random) }, body: genuine.body };
    else if (rewrite !== undefined) yield { headers: { ...genuine.headers }, body: rewrite(genuine.body, random) };
    else if (key !== undefined) {
      const signature = createHmac('sha256', key(secret)).update(genuine.body).digest('hex');
      yield { headers: { ...genuine.headers, [header]: `sha256=${signature}` }, body: genuine.body };
    }
  }
}

const KEYS: readonly ((secret: string) => string | Buffer)[] = [
  () => '',
  (secret) => `${secret} `,
  (secret) => secret.slice(0, -1),
  (secret) => secret.toUpperCase(),
  (secret) => Buffer.from(secret, 'base64'),
  (secret) => secret.replace('whsec_', ''),
];
