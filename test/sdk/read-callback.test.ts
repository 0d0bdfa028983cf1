import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { CallbackError, readCallback } from '../../src/sdk/index.js';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const FLOW = {
  kind: 'bridge-transfer',
  reference: 'order-1',
  flowId: 'bridge-transfer/order-1',
  state: 'completed',
  stage: 'done',
  serviceReference: null,
  outcome: { state: 'completed', reason: null },
  parked: null,
  skipped: [],
};
const TIMESTAMP = '2026-01-31T12:30:15.123Z';
const BODY = JSON.stringify({ type: 'flow.updated', timestamp: TIMESTAMP, data: FLOW });

function signed(body: string, secret = SECRET, at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}
const read = (headers: Record<string, string>, body: string | Uint8Array = BODY, secrets = [SECRET]) =>
  readCallback({ secrets, headers, body });

describe('a callback, read by readCallback,', () => {
  test('of ours is read: its id, its time, and the flow', () => {
    const callback = read(signed(BODY));
    expect(callback).toEqual({ id: 'msg_1', timestamp: TIMESTAMP, flow: FLOW });
  });

  test('is taken as bytes, with headers in any case, and from a Headers', () => {
    const headers = signed(BODY);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(read(upper, Buffer.from(BODY)).id).toBe('msg_1');
    expect(readCallback({ secrets: [SECRET], headers: new Headers(headers), body: BODY }).id).toBe('msg_1');
  });

  test.each([
    ['empty', [SECRET, ''], 'secrets[1]'],
    ['empty after its prefix', ['whsec_'], 'secrets[0]'],
    ['not base64', ['whsec_not base64!'], 'secrets[0]'],
  ])(
    'cannot be verified with a secret that is %s, which its error names, and is no fault of its sender',
    (_, secrets, says) => {
      const reading = () => read(signed(BODY), BODY, secrets);
      expect(reading).toThrow(TypeError);
      expect(reading).toThrow(says);
      expect(reading).not.toThrow('not base64!');
    },
  );

  test('may be signed with either secret while they are rotated', () => {
    expect(read(signed(BODY, OTHER), BODY, [SECRET, OTHER]).id).toBe('msg_1');
  });

  test.each([
    ['signed by somebody else', signed(BODY, OTHER), BODY],
    ['changed on its way', signed(BODY), BODY.replace('completed', 'refunded')],
    ['of an hour ago', signed(BODY, SECRET, new Date(Date.now() - 3_600_000)), BODY],
    ['not signed', {}, BODY],
    ['with the id of another one', { ...signed(BODY), 'webhook-id': 'msg_2' }, BODY],
    ['signed, but not JSON', signed('{'), '{'],
    ['signed, but of no flow', signed('{"a":1}'), '{"a":1}'],
  ])('%s is refused', (_, headers, body) => {
    expect(() => read(headers, body)).toThrow(CallbackError);
  });

  test('is refused if there is no secret at all', () => {
    expect(() => read(signed(BODY), BODY, [])).toThrow(CallbackError);
  });
});

test('readCallback takes the headers and the body of a Node server as they are', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(
        readCallback({ secrets: [SECRET], headers: request.headers, body: Buffer.concat(chunks) }).flow.flowId,
      );
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { ...signed(BODY), connection: 'close' },
    body: BODY,
  });
  server.close();
  expect(received).toEqual([FLOW.flowId]);
});
