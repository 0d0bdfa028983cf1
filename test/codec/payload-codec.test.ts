import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
  encodeToPayloads,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import * as fc from 'fast-check';
import { createKeyring } from '../../src/keys/index.js';
import { createPayloadCodec, createDataConverter } from '../../src/temporal/payload-codec.js';
import { isPlaintext, isUndecodable, requireDecoded } from '../../src/protocol/plaintext-marker.js';

const oldKey = { id: 'old', bytes: new Uint8Array(32).fill(1) };
const newKey = { id: 'new', bytes: new Uint8Array(32).fill(2) };
const keyring = createKeyring([oldKey]);
const codec = createPayloadCodec({ keyring, namespace: 'default' });
const converter = loadDataConverter(createDataConverter({ keyring, namespace: 'default' }));

const plain = (text: string, encoding = 'json/plain'): Payload => ({
  metadata: { encoding: new Uint8Array(Buffer.from(encoding)) },
  data: new Uint8Array(Buffer.from(text)),
});
const read = (payload: Payload | undefined): unknown => payload && defaultPayloadConverter.fromPayload(payload);
const decodeOne = async (payload: Payload, by = codec) => read((await by.decode([payload]))[0]);
const encodeOne = async (value: unknown, by = codec): Promise<Payload> => {
  const [encoded] = await by.encode([defaultPayloadConverter.toPayload(value)]);
  if (encoded === undefined) throw new Error('no payload');
  return encoded;
};
const bytesOf = (payload: Payload) => Buffer.from(payload.data ?? []).toString('latin1');

describe('through the data converter of the SDK', () => {
  it('a value comes back as it was, and is not to be seen on the way', async () => {
    const value = { phone: '+256700000001', list: [1, null, 'ü'], deep: { a: true } };
    const payloads = await encodeToPayloads(converter, value, undefined, new Uint8Array([1, 2]));
    expect(JSON.stringify(payloads?.map(bytesOf))).not.toContain('256700000001');
    expect(await decodeFromPayloadsAtIndex(converter, 0, payloads)).toEqual(value);
    expect(await decodeFromPayloadsAtIndex(converter, 1, payloads)).toBeUndefined();
    expect(await decodeFromPayloadsAtIndex(converter, 2, payloads)).toEqual(new Uint8Array([1, 2]));
  });

  it('a failure keeps its message, its details and its cause, none of them in the clear', async () => {
    const error = ApplicationFailure.create({
      message: 'no wallet for Jane Canary',
      type: 'rejected',
      details: [{ name: 'Jane Canary' }],
      cause: new Error('cause of Jane Canary'),
    });
    const failure = await encodeErrorToFailure(converter, error);
    const seen = JSON.stringify(failure, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    expect(seen).not.toContain('Canary');
    const back = await decodeOptionalFailureToOptionalError(converter, failure);
    expect(back?.message).toBe('no wallet for Jane Canary');
    expect((back as ApplicationFailure).details).toEqual([{ name: 'Jane Canary' }]);
    expect((back as Error).cause).toHaveProperty('message', 'cause of Jane Canary');
  });
});

describe('what came in the clear', () => {
  it('is wrapped, whatever JSON it is, exactly as it was written', () =>
    fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const text = JSON.stringify(value);
        const [decoded] = await codec.decode([plain(text)]);
        expect(Buffer.from(decoded?.data ?? []).toString('utf8')).toBe(`{"__plaintext":${text}}`);
        expect(isPlaintext(read(decoded))).toBe(true);
      }),
    ));

  it.each(['', '{', '1},"x":{"y":2', '1,2', 'undefined', '\u0000'])('is base64 if it is not JSON: %j', async (text) => {
    expect(await decodeOne(plain(text))).toEqual({ __plaintext: Buffer.from(text).toString('base64') });
  });

  it('is base64 in other encodings', async () => {
    expect(await decodeOne(plain('raw', 'binary/plain'))).toEqual({ __plaintext: 'cmF3' });
    expect(await decodeOne({ data: new Uint8Array([1]) })).toEqual({ __plaintext: 'AQ==' });
    expect(await decodeOne({})).toEqual({ __plaintext: '' });
  });

  it('passes unchanged if it is undefined', async () => {
    expect(await decodeOne(plain('', 'binary/null'))).toBeUndefined();
  });

  it('is not taken for what we encrypted, even if it claims to be', async () => {
    const value = { __plaintext: 1 };
    expect(await decodeOne(await encodeOne(value))).toEqual(value);
    expect(isPlaintext(await decodeOne(await encodeOne({ a: 1 })))).toBe(false);
  });

  it('is shown to people as it is, next to what is decrypted for them', async () => {
    const shown = await codec.decodeForPeople([plain('{"a":1}'), await encodeOne({ b: 2 })]);
    expect(shown.map(read)).toEqual([{ a: 1 }, { b: 2 }]);
  });
});

describe('what does not open', () => {
  it('says that its key is unknown, and is reported', async () => {
    const reasons: string[] = [];
    const elsewhere = createPayloadCodec({
      keyring: createKeyring([newKey]),
      namespace: 'default',
      onUndecodable: (reason) => reasons.push(reason),
    });
    const value = await decodeOne(await encodeOne('x'), elsewhere);
    expect(value).toEqual({ __undecodable: 'unknown key id old' });
    expect(isUndecodable(value)).toBe(true);
    expect(reasons).toEqual(['unknown key id old']);
    expect(() => requireDecoded(value)).toThrow('unknown key id old');
  });

  it('opens after a rotation as long as the old key is kept', async () => {
    const rotated = createPayloadCodec({ keyring: createKeyring([newKey, oldKey]), namespace: 'default' });
    expect(await decodeOne(await encodeOne('x'), rotated)).toBe('x');
    const encoded = await encodeOne('y', rotated);
    expect(Buffer.from(encoded.metadata?.['encryption-key-id'] ?? []).toString()).toBe('new');
  });

  it('is broken in another namespace', async () => {
    const elsewhere = createPayloadCodec({ keyring, namespace: 'other' });
    expect(await decodeOne(await encodeOne('x'), elsewhere)).toEqual({ __undecodable: 'broken' });
  });

  it('never throws, whatever the bytes are', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (data) => {
        const metadata = { encoding: new Uint8Array(Buffer.from('binary/encrypted')) };
        expect(isUndecodable(await decodeOne({ metadata, data }))).toBe(true);
      }),
    ));
});

describe('results of our own workers', () => {
  it('pass if they were decoded, and stop the workflow task if they came unencrypted', async () => {
    expect(requireDecoded({ a: 1 })).toEqual({ a: 1 });
    expect(requireDecoded(undefined)).toBeUndefined();
    const smuggled = await decodeOne(plain('{"accepted":true}'));
    expect(() => requireDecoded(smuggled)).toThrow('in the clear');
  });
});
