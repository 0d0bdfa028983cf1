import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServiceClient, type ServiceClient } from '../../../src/service-client/index.js';
import { accessOf } from '../../harness/service.js';
import { newReference } from '../../harness/references.js';
import { serveHttp, type ScriptedServer } from '../../service-client/scripted-server.js';
import { gatewayUnderTest, type GatewayUnderTest } from '../setup/gateway-under-test.js';
import { PATHS, QUOTE_BODY } from './caller.js';

interface Scripted {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ADMIN = 'secret-of-root-0000000000';
/** What the gateway sends to the service. */
const TOKEN = 'canary-service-token';

describe('a service whose answers are not what its interface shows', () => {
  let service: ScriptedServer;
  let client: ServiceClient;
  let tested: GatewayUnderTest;
  let answer: Scripted;
  let monotonicMs = 0;
  beforeAll(async () => {
    service = await serveHttp((response) =>
      response
        .writeHead(answer.status, { 'content-type': answer.type ?? 'application/json', ...answer.headers })
        .end(answer.body),
    );
    client = createServiceClient({ baseUrl: service.url, token: () => Promise.resolve(TOKEN), maxAnswerBytes: 10_000 });
    tested = await gatewayUnderTest({
      env: { GATEWAY_TOKENS: `root:admin:${ADMIN}` },
      gateway: { service: accessOf(client, TOKEN), monotonicMs: () => monotonicMs },
    });
  });
  beforeEach(() => {
    service.seen.splice(0);
    // A pause that the service named in the test before is over.
    monotonicMs += 60_000;
  });
  afterAll(async () => {
    await tested.close();
    client.close();
    await service.close();
  });

  const ask = async (path: string, scripted: Scripted, init: RequestInit = {}) => {
    answer = scripted;
    const got = await fetch(tested.url + path, {
      ...init,
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    });
    return { status: got.status, type: got.headers.get('content-type'), headers: got.headers, text: await got.text() };
  };
  const read = `${PATHS.send}/${newReference('drift')}`;

  const SHAPES: readonly (readonly [string, string])[] = [
    ['another envelope', '{"ok":true,"result":{"apiKey":"key-1"}}'],
    ['no envelope', '{"key":"key-1","created":1.10}'],
    ['another spelling of a member', '{"success":true,"message":"made","data":{"api_key":"key-1"}}'],
    ['members that nobody knows', '{"success":true,"message":"made","data":{"key":"key-1","scopes":["all"]},"v":2}'],
    ['numbers that JavaScript would change', '{"success":true,"data":{"key":12345678901234567890.10,"fee":1e400}}'],
    ['a data that is a list', '{"success":true,"message":"","data":[{"key":"key-1"}]}'],
    ['white space of its own', '{ "success" : true,\n "data" : { } }'],
    ['a member twice', '{"success":true,"data":{"key":"a","key":"b"}}'],
    ['no JSON at all', 'key-1'],
    ['nothing', ''],
  ];

  it.each(SHAPES)('is passed on as it is by an account operation and a read: %s', async (_shape, body) => {
    for (const path of [PATHS.key, read]) {
      for (const status of [200, 201]) {
        expect(await ask(path, { status, body })).toMatchObject({ status, type: 'application/json', text: body });
      }
    }
    // Each was called once: a repetition would make another key.
    expect(service.seen).toHaveLength(4);
  });

  it.each(SHAPES)('is passed on as it is by a quote, which is then not remembered: %s', async (_shape, body) => {
    const asked = await ask(PATHS.quote, { status: 200, body }, { method: 'POST', body: JSON.stringify(QUOTE_BODY) });
    expect(asked).toMatchObject({ status: 200, text: body });
  });

  it.each([400, 403, 404, 409, 410, 418, 422, 429, 500, 503])(
    'keeps its own status and error body: HTTP %i',
    async (status) => {
      const body = '{"success":false,"message":"No","error_code":"WORD","data":{"errors":[{"path":"a"}],"n":1.50}}';
      const headers = { 'retry-after': '7', 'x-ratelimit-remaining': '0', 'set-cookie': 'a=b', 'keep-alive': 'x' };
      for (const path of [PATHS.key, read]) {
        const got = await ask(path, { status, body, headers });
        expect(got).toMatchObject({ status, text: body });
        expect(got.headers.get('retry-after')).toBe('7');
        expect(got.headers.get('x-ratelimit-remaining')).toBe('0');
        expect(got.headers.get('set-cookie')).toBeNull();
      }
    },
  );

  it.each([
    ['its Retry-After', { headers: { 'retry-after': '7' }, body: '{"success":false,"message":"Slow down"}' }],
    ['its body', { body: '{"success":false,"message":"Slow down","data":{"retryAfter":7}}' }],
  ])(
    'is asked for no record of that kind for as long as a 429 names in %s, and for quotes as before',
    async (_where, limited) => {
      const ok = { status: 200, body: '{"success":true,"data":{}}' };
      const quote = () => ask(PATHS.quote, ok, { method: 'POST', body: JSON.stringify(QUOTE_BODY) });
      expect(await ask(read, { status: 429, ...limited })).toMatchObject({ status: 429, text: limited.body });
      monotonicMs += 5_500;
      const refused = await ask(read, ok);
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.text)).toMatchObject({ towline: { by: 'gateway', code: 'service_rate_limited' } });
      expect(refused.headers.get('retry-after')).toBe('2');
      expect(service.seen).toHaveLength(1);
      expect((await quote()).status).toBe(200);
      monotonicMs += 1_500;
      expect((await ask(read, ok)).status).toBe(200);
      expect(service.seen).toHaveLength(3);
    },
  );

  it('is asked again at once after a 429 that names no time', async () => {
    const body = '{"success":false,"message":"Slow down"}';
    for (const _ of [1, 2]) expect(await ask(read, { status: 429, body })).toMatchObject({ status: 429, text: body });
    expect(service.seen).toHaveLength(2);
  });

  it('keeps its content type, and is no page of ours', async () => {
    const page = { status: 502, type: 'text/html; charset=utf-8', body: '<h1>Bad gateway</h1>' };
    const got = await ask(read, page);
    expect(got).toMatchObject({ status: 502, type: page.type, text: page.body });
    expect(got.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    ['in JSON', (url: string) => `{"success":true,"data":{"callback_url":"${url}","note":"to ${url}","n":1.50}}`],
    ['with escaped slashes', (url: string) => `{"data":{"callback_url":"${url.replaceAll('/', '\\/')}","n":1.50}}`],
    ['outside of JSON', (url: string) => `sent to ${url} and ${url.replaceAll('/', '\\/')} at last`],
  ])('does not show a callback URL of ours to others: %s', async (_where, bodyWith) => {
    const secret = 'a'.repeat(43);
    const { text, status } = await ask(read, {
      status: 200,
      body: bodyWith(`https://towline.shop.example/callbacks/crypto-send/ref-1/${secret}`),
    });
    expect(status).toBe(200);
    expect(text).not.toContain(secret);
    if (text.startsWith('{')) expect(text).toContain('"n":1.50');
  });

  it('does not show the token of the gateway to others: a refusal may repeat it', async () => {
    const { text } = await ask(read, { status: 403, body: `{"message":"Bearer ${TOKEN} may not"}` });
    expect(text).toBe('{"message":"Bearer [redacted] may not"}');
  });

  it('is refused by the gateway if it is no answer to pass on', async () => {
    for (const status of [302, 401]) {
      const got = await ask(PATHS.key, { status, body: '{}', headers: { location: 'https://elsewhere.example/' } });
      expect(got.status).toBe(502);
      expect(JSON.parse(got.text)).toMatchObject({ success: false, towline: { by: 'gateway' } });
      expect(got.headers.get('location')).toBeNull();
    }
    const large = await ask(read, { status: 200, body: JSON.stringify({ data: 'x'.repeat(20_000) }) });
    expect(large.status).toBe(502);
  });
});
