import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import { readSettings } from '../../src/config/index.js';
import { GatewayPortTakenError } from '../../src/gateway/index.js';
import { createPayloadCodec } from '../../src/temporal/payload-codec.js';
import { rawRequest } from './setup/raw-request.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { keyring } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { secretBytes } from '../harness/secrets.js';

const UI = 'http://127.0.0.1:8233';
const KEYS = `k:${secretBytes(5).toString('base64')}`;

describe('the codec server', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    tested = await gatewayUnderTest({ gateway: { uiOrigin: UI } });
  });
  afterAll(() => tested.close());

  const codec = createPayloadCodec({ keyring, namespace: 'default' });
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const encrypted = async (value: unknown) => {
    const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value) ?? {}]);
    const metadata = Object.entries(payload?.metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
    return { metadata: Object.fromEntries(metadata), data: base64(payload?.data) };
  };
  const decode = (payloads: unknown[], headers: Record<string, string>) =>
    rawRequest(tested.url, '/codec/decode', JSON.stringify({ payloads }), headers);

  it('shows the UI what is encrypted, and unencrypted content unchanged', async () => {
    const plain = { metadata: { encoding: base64(Buffer.from('json/plain')) }, data: base64(Buffer.from('"clear"')) };
    const answer = await decode([await encrypted({ amount: '12.50' }), plain], {
      origin: UI,
      'x-namespace': 'default',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(UI);
    const { payloads } = JSON.parse(answer.body);
    const texts = payloads.map(({ data }: { data: string }) => Buffer.from(data, 'base64').toString());
    expect(texts).toEqual(['{"amount":"12.50"}', '"clear"']);
  });

  it('encodes so that it decodes again', async () => {
    const plain = { metadata: { encoding: base64(Buffer.from('json/plain')) }, data: base64(Buffer.from('{"a":1}')) };
    const encoded = await rawRequest(tested.url, '/codec/encode', JSON.stringify({ payloads: [plain] }), {
      origin: UI,
    });
    const { payloads } = JSON.parse(encoded.body);
    expect(Buffer.from(payloads[0].metadata.encoding, 'base64').toString()).toBe('binary/encrypted');
    expect(JSON.parse((await decode(payloads, { origin: UI })).body).payloads).toEqual([plain]);
  });

  it('answers the preflight of the exact origin alone', async () => {
    const preflight = async (origin: string) => {
      const answer = await fetch(`${tested.url}/codec/decode`, { method: 'OPTIONS', headers: { origin } });
      return answer.headers.get('access-control-allow-origin');
    };
    expect(await preflight(UI)).toBe(UI);
    for (const other of [`${UI}0`, 'http://127.0.0.1', 'https://127.0.0.1:8233', 'null', 'http://localhost:8233']) {
      expect(await preflight(other)).toBeNull();
      const answer = await decode([], { origin: other });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, undefined]);
    }
  });

  it('lets the page of the UI read why its token is refused', async () => {
    const answer = await decode([], { origin: UI, authorization: 'Bearer wrong' });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, UI]);
  });

  it('needs a token from every other caller, and outside of development also from the UI', async () => {
    expect((await decode([], {})).status).toBe(401);
    expect((await decode([], { authorization: 'Bearer dev-token' })).status).toBe(200);
    expect((await decode(['nonsense'], { authorization: 'Bearer dev-token' })).status).toBe(400);
    const live = await gatewayUnderTest({
      gateway: { uiOrigin: UI, settings: { ...readSettings({ GATEWAY_PORT: '0' }), development: false } },
    });
    const answer = await rawRequest(live.url, '/codec/decode', '{"payloads":[]}', { origin: UI });
    await live.close();
    expect(answer.status).toBe(401);
  });
});

describe('the gateway as a process', () => {
  it('is healthy while it answers, and ready while store and Temporal are there', async () => {
    const tested = await gatewayUnderTest();
    expect(await tested.get('/healthz')).toMatchObject({ status: 200 });
    expect(await tested.get('/readyz')).toEqual({ status: 200, body: { status: 'ok', store: 'ok', temporal: 'ok' } });
    await tested.close();

    const alone = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    expect(await alone.get('/healthz')).toMatchObject({ status: 200 });
    const lacksTemporal = { status: 503, body: { store: 'ok', temporal: 'unavailable' } };
    expect(await alone.get('/readyz')).toMatchObject(lacksTemporal);
    expect(await alone.get('/readyz/orders')).toMatchObject(lacksTemporal);
    expect(await alone.get('/readyz/intake')).toEqual({ status: 200, body: { status: 'ok', store: 'ok' } });
    await alone.close();
  });

  it('is not ready for events while its store is unavailable', async () => {
    const check = () => Promise.reject(new Error('no disk'));
    const tested = await gatewayUnderTest({ wrapStore: (store) => ({ ...store, check }) });
    for (const path of ['/readyz', '/readyz/intake', '/readyz/orders']) {
      expect(await tested.get(path)).toMatchObject({ status: 503, body: { store: 'unavailable' } });
    }
    await tested.close();
  });

  it('is not ready for events two seconds after its store hangs, such as by a lock', async () => {
    const check = () => new Promise<never>(() => undefined);
    const tested = await gatewayUnderTest({ wrapStore: (store) => ({ ...store, check }) });
    const startedMs = performance.now();
    expect(await tested.get('/readyz/intake')).toMatchObject({ status: 503, body: { store: 'unavailable' } });
    expect(performance.now() - startedMs).toBeLessThan(8_000);
    await tested.close();
  });

  it('refuses a request with two headers of one name that decide who asks, and what', async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    const { hostname, port } = new URL(tested.url);
    const answerTo = async (hosts: string) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write(`GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      await once(socket, 'close');
      return text.slice(0, 12);
    };
    expect(await answerTo('Host: localhost\r\n')).toBe('HTTP/1.1 200');
    expect(await answerTo('Host: localhost\r\nhOST: evil.example\r\n')).toBe('HTTP/1.1 400');
    const token = 'Authorization: Bearer dev-token\r\n';
    expect(await answerTo(`Host: localhost\r\n${token}`)).toBe('HTTP/1.1 200');
    for (const twice of [token, 'Authorization-Extras: x\r\n', 'Content-Type: application/json\r\n'])
      expect(await answerTo(`Host: localhost\r\n${twice}${twice}`)).toBe('HTTP/1.1 400');
    await tested.close();
  });

  it('checks its store once for all probes, however many they are', async () => {
    let [looks, monotonicMs] = [0, 0];
    const tested = await gatewayUnderTest({
      gateway: { monotonicMs: () => monotonicMs },
      wrapStore: (store) => ({ ...store, check: () => ((looks += 1), store.check()) }),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => tested.get('/readyz')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks).toBe(1);
    monotonicMs = 1_000;
    await tested.get('/readyz');
    expect(looks).toBe(2);
    await tested.close();
  });

  it('logs that it is not ready, and that it is again, once each, however many probes there are on both listeners', async () => {
    let [works, monotonicMs] = [true, 0];
    const check = () => (works ? Promise.resolve() : Promise.reject(new Error('no disk')));
    const tested = await gatewayUnderTest({
      env: { INBOUND_PORT: '0' },
      gateway: { monotonicMs: () => monotonicMs },
      wrapStore: (store) => ({ ...store, check }),
    });
    const paths = ['/readyz', '/readyz/intake', '/readyz/orders'];
    const urls = [tested.url, tested.gateway.publicUrl].flatMap((url) => paths.map((path) => url + path));
    const probe = async () => {
      monotonicMs += 1_000;
      const answers = await Promise.all(urls.map((url) => fetch(url)));
      return new Set(answers.map(({ status }) => status));
    };
    const lines = () =>
      tested.log.flatMap(({ level, msg, store }) => (Number(level) >= 30 && store !== undefined ? [[store, msg]] : []));
    for (const _ of [1, 2]) expect(await probe()).toEqual(new Set([200]));
    works = false;
    for (const _ of [1, 2, 3]) expect(await probe()).toEqual(new Set([503]));
    works = true;
    for (const _ of [1, 2]) expect(await probe()).toEqual(new Set([200]));
    expect(lines()).toEqual([
      ['unavailable', 'the readiness changed'],
      ['ok', 'the readiness changed'],
    ]);
    expect(tested.log.filter(({ level, status }) => Number(level) >= 40 && Number(status) >= 500)).toEqual([]);
    await tested.close();
  });

  it('ends with one sentence about its port when that is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const starting = gatewayUnderTest({ env: { GATEWAY_PORT: String(port) } });
    await expect(starting).rejects.toThrow(GatewayPortTakenError);
    await expect(starting).rejects.toThrow(new RegExp(`Port ${port} .* GATEWAY_PORT`));
    await new Promise((resolve) => other.close(resolve));
  });

  it('gives every answer a request id and headers that browsers need', async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    const { headers } = await fetch(`${tested.url}/healthz`, {
      headers: { 'request-id': 'mine', 'x-request-id': 'mine' },
    });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    await tested.close();
  });

  it('answers in development only to names of this machine, which no web page can have, and else to every name', async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    const real = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { DEVELOPMENT: 'false', GATEWAY_TOKENS: 'ann:admin:secret-of-ann-0123456789', PAYLOAD_KEYS: KEYS },
    });
    const to = (url: string, host: string) =>
      rawRequest(url, '/whoami', '', { host, authorization: 'Bearer dev-token' }, false, 'GET');
    const own = ['127.0.0.1:8400', 'LOCALHOST', 'towline.localhost:8400', '[::1]:8400', 'host.docker.internal:8400'];
    for (const host of own)
      expect({ host, status: (await to(tested.url, host)).status }).toEqual({ host, status: 200 });
    for (const host of [
      'evil.example:8400',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'gateway',
      'evil.internal',
      'x.docker.internal',
    ]) {
      expect(await to(tested.url, host)).toMatchObject({ status: 421, body: expect.stringContaining('localhost') });
    }
    expect((await to(real.url, 'pay.example')).status).toBe(401);
    await Promise.all([tested.close(), real.close()]);
  });

  it('logs with a start the flow that its body names, and with any other request the flow of its path', async () => {
    const tested = await gatewayUnderTest();
    const reference = newReference('logged');
    const flowId = `bridge-transfer/${reference}`;
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    expect((await tested.get(`/flows/${flowId}`)).status).toBe(200);
    const answered = await until('both lines', () => {
      const lines = tested.log.filter(({ msg, flowId: logged }) => msg === 'answered' && logged === flowId);
      return lines.length === 2 && lines;
    });
    expect(answered.map(({ route }) => route)).toEqual(['/flows/bridge-transfer', '/flows/:kind/:reference']);
    await tested.client.workflow.getHandle(flowId).terminate();
    await tested.close();
  });

  it('gives a request id even to an unreadable request, and logs it', async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    const { headers, status } = await rawRequest(tested.url, '/healthz', '', { 'x-large': 'x'.repeat(10_000) });
    expect(status).toBe(431);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(tested.log.find(({ requestId }) => requestId === headers['x-request-id'])).toMatchObject({ status: 431 });
    await tested.close();
  });
});
