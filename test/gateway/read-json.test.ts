import { describe, expect, it } from '@jest/globals';
import { assert, jsonValue, property, uint8Array } from 'fast-check';
import { readJson, UnreadableJsonError } from '../../src/gateway/http/json-body.js';

const read = (text: string) => readJson(Buffer.from(text));

function sameJson(ours: unknown, theirs: unknown): boolean {
  if (typeof theirs === 'number') return Object.is(Number(ours), theirs);
  if (typeof theirs !== 'object' || theirs === null) return ours === theirs;
  if (typeof ours !== 'object' || ours === null || Array.isArray(ours) !== Array.isArray(theirs)) return false;
  const [mine, yours] = [Object.entries(ours), Object.entries(theirs)];
  return mine.length === yours.length && yours.every(([name, value]) => sameJson((ours as never)[name], value));
}

describe('a JSON body', () => {
  it('reads as JSON.parse reads it, but for numbers beyond exact digits, which stay text', () => {
    const value = jsonValue().filter((json) => !JSON.stringify(json).includes('__proto__'));
    assert(
      property(value, (json) => {
        const text = JSON.stringify(json);
        expect(sameJson(read(text), JSON.parse(text))).toBe(true);
      }),
    );
  });

  it('keeps numbers that JavaScript would change as the text that was sent', () => {
    expect(read('[9007199254740993, 1e400, 0.1, 10, 12345678901234567890.5]')).toEqual([
      '9007199254740993',
      '1e400',
      0.1,
      10,
      '12345678901234567890.5',
    ]);
  });

  it.each([
    ['100', 100],
    ['-0.10', -0.1],
    ['1E2', 100],
    ['-1.5e-3', -0.0015],
    ['1e400', '1e400'],
    ['123456789012345', 123456789012345],
    ['1234567890123456', 1234567890123456],
    ['12345678901234567', '12345678901234567'],
    ['0.1234567890123456', 0.1234567890123456],
    ['0.12345678901234567891', '0.12345678901234567891'],
  ])('keeps the number %s', (text, value) => {
    expect(read(`{"amount":${text},"e":"12345678901234567890e5"}`)).toEqual({
      amount: value,
      e: '12345678901234567890e5',
    });
    expect(read(`[true,{"e":${text}}]`)).toEqual([true, { e: value }]);
  });

  it.each([
    ['one member twice', '{"amount":1,"amount":2}'],
    ['one member twice, with one value', '{"amount":1,"amount":1}'],
    ['one member twice in two spellings', '{"amount":1,"\\u0061mount":1}'],
    ['one member twice, deep inside', '{"a":[{"b":{"c":":","c":":"}}]}'],
    ['__proto__', '{"__proto__":{"status":"COMPLETED"}}'],
    ['__proto__ in another spelling', '{"a":{"\\u005f_proto__":1}}'],
    ['constructor.prototype', '{"a":{"constructor":{"prototype":{"polluted":true}}}}'],
    ['a byte order mark inside', '{\ufeff}'],
    ['two byte order marks', '\ufeff\ufeff{}'],
    ['NaN', '{"amount":NaN}'],
    ['Infinity', '{"amount":Infinity}'],
    ['a number with a zero in front', '{"amount":007}'],
    ['a comma too many', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['nothing', ''],
    ['two values', '{}{}'],
    ['33 levels', '['.repeat(33) + ']'.repeat(33)],
    ['a hundred thousand levels', '{"a":'.repeat(100_000)],
  ])('is refused with %s', (_what, text) => {
    expect(() => read(text)).toThrow(UnreadableJsonError);
  });

  it('is refused if its bytes are not UTF-8', () => {
    expect(() => readJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(UnreadableJsonError);
    expect(() => readJson(Buffer.from('{"a":1}', 'utf16le'))).toThrow(UnreadableJsonError);
  });

  it('may have a byte order mark in front, as RFC 8259 allows its reader to take it', () => {
    expect(read('\ufeff{"amount":1.5,"long":9007199254740993}')).toEqual({ amount: 1.5, long: '9007199254740993' });
  });

  it('may have a member that is called constructor', () => {
    expect(read('{"constructor":"ACME"}')).toEqual({ constructor: 'ACME' });
  });

  it('may be 32 levels deep', () => {
    expect(() => read('['.repeat(32) + ']'.repeat(32))).not.toThrow();
  });

  it('never throws anything but its own error, whatever bytes come', () => {
    assert(
      property(uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          readJson(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableJsonError);
        }
      }),
    );
  });

  it('of texts alone is refused at its first number, and at more values than are allowed, before it is parsed', () => {
    const ofTexts = { mostValues: 3 };
    const refused = (text: string) => expect(() => readJson(Buffer.from(text), ofTexts)).toThrow(UnreadableJsonError);
    expect(readJson(Buffer.from('{"a":["1","2"],"b":"3"}'), ofTexts)).toEqual({ a: ['1', '2'], b: '3' });
    refused('{"a":["1",2]}');
    refused('["1","2","3","4","5"]');
    // Neither is JSON: what comes after is not read.
    refused('[1e5,');
    refused('["","","","","');
  });
});
