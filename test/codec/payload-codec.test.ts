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
import { createPayloadCodec, createDataConverter, FLOW_ID } from '../../src/temporal/payload-codec.js';
import {
  isPlaintext,
  isUndecodable,
  requireDecoded,
  requireKnownKey,
  UNDECODABLE,
  UNKNOWN_KEY,
} from '../../src/protocol/plaintext-marker.js';

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

describe('the data converter with our codec', () => {
  it('returns a value as it was, and shows nothing of it on the way', async () => {
    const value = { phone: '+256700000001', list: [1, null, 'ü'], deep: { a: true } };
    const payloads = await encodeToPayloads(converter, value, undefined, new Uint8Array([1, 2]));
    expect(JSON.stringify(payloads?.map(bytesOf))).not.toContain('256700000001');
    expect(await decodeFromPayloadsAtIndex(converter, 0, payloads)).toEqual(value);
    expect(await decodeFromPayloadsAtIndex(converter, 1, payloads)).toBeUndefined();
    expect(await decodeFromPayloadsAtIndex(converter, 2, payloads)).toEqual(new Uint8Array([1, 2]));
  });

  it('returns a failure with its message, details and cause, and shows none of them on the way', async () => {
    const error = ApplicationFailure.create({
      message: 'Jane Canary',
      type: 'rejected',
      details: [{ name: 'Jane Canary' }],
      cause: new Error('Canary'),
    });
    const failure = await encodeErrorToFailure(converter, error);
    const seen = JSON.stringify(failure, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    expect(seen).not.toContain('Canary');
    const back = await decodeOptionalFailureToOptionalError(converter, failure);
    expect(back?.message).toBe('Jane Canary');
    expect((back as ApplicationFailure).details).toEqual([{ name: 'Jane Canary' }]);
    expect((back as Error).cause).toHaveProperty('message', 'Canary');
  });
});

describe('a payload that came in the clear', () => {
  it('is wrapped in __plaintext, whatever JSON it is, exactly as it was written', () =>
    fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const text = JSON.stringify(value);
        const [decoded] = await codec.decode([plain(text)]);
        expect(Buffer.from(decoded?.data ?? []).toString('utf8')).toBe(`{"__plaintext":${text}}`);
        expect(isPlaintext(read(decoded))).toBe(true);
      }),
    ));

  it.each(['', '{', '1},"x":{"y":2', '1,2', 'undefined', '\u0000'])(
    'is wrapped as base64 if it is not JSON: %j',
    async (text) => {
      expect(await decodeOne(plain(text))).toEqual({ __plaintext: Buffer.from(text).toString('base64') });
    },
  );

  it('is wrapped as base64 if it has another encoding', async () => {
    expect(await decodeOne(plain('raw', 'binary/plain'))).toEqual({ __plaintext: 'cmF3' });
    expect(await decodeOne({ data: new Uint8Array([1]) })).toEqual({ __plaintext: 'AQ==' });
    expect(await decodeOne({})).toEqual({ __plaintext: '' });
  });

  it('is undefined if it was undefined', async () => {
    expect(await decodeOne(plain('', 'binary/null'))).toBeUndefined();
  });

  it('differs from an encrypted value that has a member __plaintext', async () => {
    const value = { __plaintext: 1 };
    expect(await decodeOne(await encodeOne(value))).toEqual(value);
    expect(isPlaintext(await decodeOne(await encodeOne({ a: 1 })))).toBe(false);
  });

  it('is shown as it is by decodeForPeople, next to what is decrypted', async () => {
    const shown = await codec.decodeForPeople([plain('{"a":1}'), await encodeOne({ b: 2 })]);
    expect(shown.map(read)).toEqual([{ a: 1 }, { b: 2 }]);
  });
});

describe('a payload that does not open', () => {
  it('has the id of its unknown key, is reported, and throws in requireDecoded and requireKnownKey', async () => {
    const reasons: string[] = [];
    const elsewhere = createPayloadCodec({
      keyring: createKeyring([newKey]),
      namespace: 'default',
      onUndecodable: (reason) => reasons.push(reason),
    });
    const value = await decodeOne(await encodeOne('x'), elsewhere);
    if (!isUndecodable(value)) throw new Error('it was decoded');
    const reason = value[UNDECODABLE];
    expect([reason.startsWith(UNKNOWN_KEY), reason.endsWith('old')]).toEqual([true, true]);
    expect(reasons).toEqual([reason]);
    expect(() => requireDecoded(value)).toThrow();
    expect(() => requireKnownKey(value)).toThrow();
  });

  it('does open after a rotation as long as the old key is kept', async () => {
    const rotated = createPayloadCodec({ keyring: createKeyring([newKey, oldKey]), namespace: 'default' });
    expect(await decodeOne(await encodeOne('x'), rotated)).toBe('x');
    const encoded = await encodeOne('y', rotated);
    expect(Buffer.from(encoded.metadata?.['encryption-key-id'] ?? []).toString()).toBe('new');
  });

  it('is broken if it is of another namespace', async () => {
    const elsewhere = createPayloadCodec({ keyring, namespace: 'other' });
    expect(await decodeOne(await encodeOne('x'), elsewhere)).toEqual({ __undecodable: 'broken' });
  });

  it('is of one flow, and of another one undecodable, whoever copies it, also without its flow’s name', async () => {
    const of = (workflowId: string) => ({ type: 'workflow', namespace: 'default', workflowId }) as const;
    const activityOf = (workflowId: string) =>
      ({ type: 'activity', namespace: 'default', workflowId, isLocal: false }) as const;
    const given = [defaultPayloadConverter.toPayload({ status: 'SUCCESSFUL' })];
    const [sealed] = await codec.encode(given, of('bank-checkout/a'));
    const opened = async (payload: Payload | undefined, context?: Parameters<typeof codec.decode>[1]) =>
      read((await codec.decode(payload === undefined ? [] : [payload], context))[0]);
    expect(await opened(sealed, of('bank-checkout/a'))).toEqual({ status: 'SUCCESSFUL' });
    expect(await opened(sealed, activityOf('bank-checkout/a'))).toEqual({ status: 'SUCCESSFUL' });
    for (const other of [of('bank-checkout/b'), activityOf('bank-checkout/b')])
      expect(isUndecodable(await opened(sealed, other))).toBe(true);
    // What reads a history for people knows no flow, and the payload names its own.
    expect(await opened(sealed)).toEqual({ status: 'SUCCESSFUL' });
    expect((await codec.decodeForPeople([sealed!])).map(read)).toEqual([{ status: 'SUCCESSFUL' }]);
    const { [FLOW_ID]: _flow, ...without } = sealed?.metadata ?? {};
    const named = (flowId: string) => ({
      ...sealed,
      metadata: { ...without, [FLOW_ID]: new Uint8Array(Buffer.from(flowId)) },
    });
    for (const changed of [{ ...sealed, metadata: without }, named('bank-checkout/b')])
      for (const context of [undefined, of('bank-checkout/a'), of('bank-checkout/b')])
        expect(isUndecodable(await opened(changed, context))).toBe(true);
  });

  it('is undecodable, without an error, whatever its bytes are', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (data) => {
        const metadata = { encoding: new Uint8Array(Buffer.from('binary/encrypted')) };
        expect(isUndecodable(await decodeOne({ metadata, data }))).toBe(true);
      }),
    ));
});

describe('a result of our own workers', () => {
  it('passes requireDecoded if it was decoded, and throws if it came in the clear', async () => {
    expect(requireDecoded({ a: 1 })).toEqual({ a: 1 });
    expect(requireDecoded(undefined)).toBeUndefined();
    const smuggled = await decodeOne(plain('{"accepted":true}'));
    expect(() => requireDecoded(smuggled)).toThrow();
  });
});
