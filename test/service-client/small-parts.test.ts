import { describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { reasonNotSent } from '../../src/service-client/not-sent.js';
import { readJson, UnreadableJsonError } from '../../src/service-client/judge.js';
import { retryAfterMs } from '../../src/service-client/retry-after.js';
import { closedPort } from './scripted-server.js';

const json = (text: string) => readJson(new TextEncoder().encode(text));

describe('the JSON reader of the service client', () => {
  it('keeps numbers that JavaScript would change as their decimal text', () => {
    expect(json('[1, 1.10, -0, 1e5, 9007199254740993, 0.30000000000000001, 1e-400, 123456789012345678901]')).toEqual([
      1,
      1.1,
      0,
      100_000,
      '9007199254740993',
      '0.30000000000000001',
      '1e-400',
      '123456789012345678901',
    ]);
    expect(json('1e400')).toBe('1e400');
  });

  it('is UTF-8, or cannot be read', () => {
    expect(readJson(Uint8Array.of(0x22, 0xc3, 0xa9, 0x22))).toBe('é');
    expect(() => readJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(UnreadableJsonError);
  });

  it('refuses two equal keys with different values, and takes two that agree', () => {
    expect(() => json('{"amount":1,"amount":2}')).toThrow(UnreadableJsonError);
    expect(json('{"amount":1,"amount":1}')).toEqual({ amount: 1 });
  });

  it('makes nothing of __proto__ and constructor', () => {
    const read = json(
      '{"__proto__":{"polluted":1},"a":[{"__proto__":{"polluted":1}}],"constructor":{"prototype":{"x":1}}}',
    );
    expect(Object.keys(read as object)).toEqual(['a', 'constructor']);
    const copy = Object.assign({}, read, (read as { a: object[] }).a[0]);
    expect(copy).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('x');
    expect({}).not.toHaveProperty('polluted');
  });

  it.each(
    ['', '{', 'NaN', "{'a':1}", '{"a":1}x', '[1,]', '['.repeat(100_000), '{"a":01}'].map((text) => [
      text.slice(0, 10),
      text,
    ]),
  )('is refused when it is broken: "%s"', (_, text) => {
    expect(() => json(text)).toThrow(UnreadableJsonError);
  });
});

describe('the Retry-After of a 429 of the service', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  const hint = (headers: Record<string, string>, body: unknown = {}) => retryAfterMs(headers, body, now);

  it('is read in all its spellings', () => {
    expect(hint({ 'retry-after': '7' })).toBe(7_000);
    expect(hint({ 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' })).toBe(30_000);
    expect(hint({ 'retry-after': 'Tuesday, 01-Jan-30 00:00:30 GMT' })).toBe(30_000);
    expect(hint({ 'retry-after': 'Tue Jan  1 00:00:30 2030' })).toBe(30_000);
    expect(hint({}, { data: { retryAfter: 5 } })).toBe(5_000);
    expect(hint({}, { retry_after: '4.5' })).toBe(4_500);
    expect(hint({ 'x-ratelimit-reset': '12' })).toBe(12_000);
    expect(hint({ 'x-ratelimit-reset': String(now / 1_000 + 9) })).toBe(9_000);
    expect(hint({ 'x-ratelimit-reset': String(now + 9) })).toBe(9);
  });

  it('is bounded, and absent if it is nonsense', () => {
    expect(hint({ 'retry-after': '99999999' })).toBe(3_600_000);
    expect(hint({ 'retry-after': 'Tue, 01 Jan 1980 00:00:30 GMT' })).toBe(0);
    for (const nonsense of ['soon', '-5', 'NaN', '1e9', '']) expect(hint({ 'retry-after': nonsense })).toBeUndefined();
    expect(hint({ 'retry-after': 'soon' }, { retry_after: 3 })).toBe(3_000);
    expect(hint({}, { retry_after: {} })).toBeUndefined();
    expect(hint({}, null)).toBeUndefined();
  });

  it('is cut before any pattern sees it', () => {
    for (const piece of ['Mon, 000', '9', ' ', '\\']) {
      const text = piece.repeat(1_000_000);
      expect(hint({ 'retry-after': text, 'x-ratelimit-reset': text }, { retry_after: text })).toBeUndefined();
    }
  });
});

describe('the error codes of a connection to the service', () => {
  it('prove that nothing was sent, as Node really gives them', async () => {
    const port = await closedPort();
    const error = await new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
    expect(error).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect' });
    expect(reasonNotSent(error)).toBe('refused');
    const dns = await new Promise((resolve) => connect(1, 'nowhere.invalid').on('error', resolve));
    expect(dns).toMatchObject({ syscall: 'getaddrinfo' });
    expect(reasonNotSent(dns)).toBe('dns');
  });

  it('prove it inside causes and aggregates, too', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(reasonNotSent(new Error('axios', { cause: new AggregateError([refused]) }))).toBe('refused');
  });

  it('prove nothing when they may come in mid-request', () => {
    for (const [code, syscall] of [
      ['ECONNRESET', 'read'],
      ['EPIPE', 'write'],
      ['ETIMEDOUT', 'read'],
      ['EHOSTUNREACH', 'read'],
      ['ECONNABORTED', undefined],
      [undefined, undefined],
    ]) {
      expect(reasonNotSent(Object.assign(new Error('x'), { code, syscall }))).toBeUndefined();
    }
    expect(reasonNotSent(Object.assign(new Error('x'), { code: 'ETIMEDOUT', syscall: 'connect' }))).toBe(
      'connect-timeout',
    );
    expect(reasonNotSent('text')).toBeUndefined();
  });
});
