import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyStandardWebhook, type SignatureVerdict } from '../../src/gateway/inbound/signatures.js';

const NOW_MS = 1_760_000_000_000;
const secret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [mine, mineToo, theirs] = [secret(), secret(), secret()] as const;
const body = JSON.stringify({ status: 'COMPLETED', note: 'zażółć' });

type Headers = Record<string, readonly string[]>;

function signedBy(key: string, atMs = NOW_MS, id = 'msg_1'): Headers {
  return {
    'webhook-id': [id],
    'webhook-timestamp': [String(Math.floor(atMs / 1_000))],
    'webhook-signature': [new Webhook(key).sign(id, new Date(atMs), body)],
  };
}

function verdict(headers: Headers, raw: Uint8Array | string = body, secrets = [mine, mineToo]): SignatureVerdict {
  const request = { raw: Buffer.from(raw as string), header: (name: string) => headers[name] ?? [] };
  return verifyStandardWebhook(request, secrets, NOW_MS);
}

describe('a Standard Webhooks signature', () => {
  it('of the public package is valid, by either of two live secrets', () => {
    expect(verdict(signedBy(mine))).toBe('valid');
    expect(verdict(signedBy(mineToo))).toBe('valid');
    expect(verdict(signedBy(theirs))).toBe('invalid');
  });

  it('may stand among others, of other keys and of versions that we do not know', () => {
    const [good] = signedBy(mine)['webhook-signature'] as [string];
    const [other] = signedBy(theirs)['webhook-signature'] as [string];
    expect(verdict({ ...signedBy(mine), 'webhook-signature': [`${other} v1a,AAAA ${good}`] })).toBe('valid');
    expect(verdict({ ...signedBy(mine), 'webhook-signature': [`${other} v1a,AAAA`] })).toBe('invalid');
  });

  it('is absent without its header, and if we have no secret to check it with', () => {
    expect(verdict({ 'webhook-id': ['a'], 'webhook-timestamp': ['1'] })).toBe('absent');
    expect(verdict(signedBy(mine), body, [])).toBe('absent');
  });

  it.each([
    [-301, 'stale'],
    [-300, 'valid'],
    [300, 'valid'],
    [301, 'stale'],
    [-6 * 60, 'stale'],
    [-6 * 86_400, 'stale'],
  ])('that is %i seconds away is %s', (seconds, expected) => {
    expect(verdict(signedBy(mine, NOW_MS + seconds * 1_000))).toBe(expected);
  });

  it('covers the bytes and not the text', () => {
    const raw = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const timestamp = String(NOW_MS / 1_000);
    const mac = createHmac('sha256', Buffer.from(mine.slice(6), 'base64'))
      .update(`a.${timestamp}.`)
      .update(raw);
    const headers = {
      'webhook-id': ['a'],
      'webhook-timestamp': [timestamp],
      'webhook-signature': [`v1,${mac.digest('base64')}`],
    };
    expect(verdict(headers, raw)).toBe('valid');
    expect(verdict(headers, Buffer.from([0x7b, 0xef, 0xbf, 0xbd, 0x7d]))).toBe('invalid');
  });

  it.each([
    ['a timestamp that parseInt would take', { 'webhook-timestamp': [`${NOW_MS / 1_000}abc`] }],
    ['a timestamp with a sign', { 'webhook-timestamp': [`+${NOW_MS / 1_000}`] }],
    ['a timestamp with a zero in front', { 'webhook-timestamp': [`0${NOW_MS / 1_000}`] }],
    ['a timestamp with a fraction', { 'webhook-timestamp': [`${NOW_MS / 1_000}.0`] }],
    ['two timestamps', { 'webhook-timestamp': [`${NOW_MS / 1_000}`, `${NOW_MS / 1_000}`] }],
    ['two ids', { 'webhook-id': ['msg_1', 'msg_1'] }],
    ['no id', { 'webhook-id': [] }],
    ['another id', { 'webhook-id': ['msg_2'] }],
    ['an empty signature', { 'webhook-signature': [''] }],
    ['nine signatures', { 'webhook-signature': [Array(9).fill(signedBy(mine)['webhook-signature']?.[0]).join(' ')] }],
  ])('with %s is invalid', (_what, change) => {
    expect(verdict({ ...signedBy(mine), ...change })).toBe('invalid');
  });

  it('has one spelling: every other one that decodes to its bytes is invalid', () => {
    const [good] = signedBy(mine)['webhook-signature'] as [string];
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const spellings = alphabet
      .split('')
      .map((letter) => good.slice(0, -2) + letter + '=')
      .filter((text) => text !== good);
    const loose = [
      good.slice(0, -1),
      `${good}=`,
      good.replace(/\+/g, '-').replace(/\//g, '_') + ' ',
      ` ${good}`,
      `${good}\n`,
    ];
    for (const signature of [...spellings, ...loose]) {
      expect([signature, verdict({ ...signedBy(mine), 'webhook-signature': [signature] })]).toEqual([
        signature,
        'invalid',
      ]);
    }
  });
});
