import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { assert, jsonValue, property, string } from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  cutMember,
  type Verify,
  verifyAny,
  verifyJsonHmac,
  verifyRawHmac,
} from '../../src/gateway/inbound/signatures.js';

const NOW_MS = 1_760_000_000_000;
const [MINE, MINE_TOO, THEIRS] = ['the first secret', 'the second secret', 'another one entirely'] as const;
const mac = (key: string, text: string) => `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
const verdict = (
  verify: Verify,
  headers: Record<string, string | string[]>,
  raw: string,
  secrets: readonly string[] = [MINE, MINE_TOO],
) => verify({ raw: Buffer.from(raw), header: (name) => [headers[name] ?? []].flat() }, secrets, NOW_MS);
const cut = (text: string) => {
  const pieces = cutMember(Buffer.from(text), 'signature');
  return pieces === undefined ? undefined : Buffer.concat(pieces).toString();
};

describe('the profile raw-hmac', () => {
  const body = '{"a": 1.0}\n';

  it('covers the raw body, by either of two live secrets', () => {
    expect(verdict(verifyRawHmac, { 'x-webhook-signature': mac(MINE, body) }, body)).toBe('valid');
    expect(verdict(verifyRawHmac, { 'x-webhook-signature': mac(MINE_TOO, body) }, body)).toBe('valid');
    expect(verdict(verifyRawHmac, { 'x-webhook-signature': mac(THEIRS, body) }, body)).toBe('invalid');
    expect(verdict(verifyRawHmac, { 'x-webhook-signature': mac(MINE, body.trim()) }, body)).toBe('invalid');
  });

  it('finds nothing to check without its header, or without a secret', () => {
    expect(verdict(verifyRawHmac, { 'x-kotani-signature': 'sha256=00' }, body)).toBe('absent');
    expect(verdict(verifyRawHmac, { 'x-webhook-signature': mac('', body) }, body, [])).toBe('absent');
  });
});

describe('the profile json-hmac', () => {
  const signed = '{"event":"e","data":{"amount":1.10,"note":"\\u00e9 \\"signature\\":","signature":"inner"}}';
  const header = { 'x-kotani-signature': mac(MINE_TOO, signed) };

  it.each([
    ['last', `${signed.slice(0, -1)},"signature":"abc"}`],
    ['first', `{"signature":"abc",${signed.slice(1)}`],
    ['between the others', signed.replace('"e",', '"e","signature":"abc",')],
    ['missing', signed],
    ['of another type', `${signed.slice(0, -1)},"signature":{"of":["a,b",{"c":1}]}}`],
  ])('covers the text without its member signature, which is %s', (_where, body) => {
    expect(verdict(verifyJsonHmac, header, body)).toBe('valid');
    expect(verdict(verifyJsonHmac, header, body.replace('1.10', '1.1'))).toBe('invalid');
  });

  it.each([
    ['it is there twice', `${signed.slice(0, -1)},"signature":"a","signature":"b"}`],
    ['its name is spelled otherwise', `${signed.slice(0, -1)},"\\u0073ignature":"a"}`],
    ['other members come along', `${signed.slice(0, -1)},"signature":"a","status":"FAILED"}`],
    ['the body was serialised again', JSON.stringify(JSON.parse(signed))],
  ])('refuses a body where %s', (_what, body) => {
    expect(verdict(verifyJsonHmac, header, body)).toBe('invalid');
  });

  it('cuts that member and nothing else, whatever is around it', () => {
    assert(
      property(jsonValue(), string(), (data, signature) => {
        const before = JSON.stringify({ event: 'e', data });
        expect(cut(JSON.stringify({ event: 'e', data, signature }))).toBe(before);
        expect(cut(JSON.stringify({ signature, event: 'e', data }))).toBe(before);
        expect(cut(before)).toBe(before);
      }),
    );
    expect(cut('{"signature":"x"}')).toBe('{}');
    expect(cut('["signature",1]')).toBe('["signature",1]');
  });
});

describe('the profile auto', () => {
  const body = '{"event":"e","data":{}}';
  const raw = { 'x-webhook-signature': mac(MINE, body) };

  it('calls a signature stale beside a right one, unless another is wrong', () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const of = (atMs: number) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(atMs / 1_000),
      'webhook-signature': new Webhook(secret).sign('msg_1', new Date(atMs), body),
    });
    const right = { 'x-webhook-signature': mac(secret, body) };
    const wrong = { 'x-kotani-signature': mac(THEIRS, body) };
    const [now, old] = [of(NOW_MS), of(NOW_MS - 3_600_000)];
    const together = (...headers: readonly object[]) =>
      verdict(verifyAny, Object.assign({}, ...headers) as Record<string, string>, body, [secret]);
    expect(together(right, old)).toBe('stale');
    expect(together(right, old, wrong)).toBe('invalid');
    expect(together(right, now)).toBe('valid');
  });

  it('takes any signature that is right, and one that is wrong spoils the others', () => {
    expect(verdict(verifyAny, {}, body)).toBe('absent');
    expect(verdict(verifyAny, raw, body)).toBe('valid');
    expect(verdict(verifyAny, { ...raw, 'x-kotani-signature': mac(MINE, body) }, body)).toBe('valid');
    expect(verdict(verifyAny, { ...raw, 'x-kotani-signature': mac(THEIRS, body) }, body)).toBe('invalid');
  });
});
