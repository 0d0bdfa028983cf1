import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { rawRequest } from './setup/raw-request.js';
import { signed } from './setup/sign.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement } from '../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const RECEIVED = { success: true, message: 'Event received', data: {} };

describe('what arrives at the gateway', () => {
  let tested: GatewayUnderTest;
  /** Nothing here needs Temporal: no flow exists, and no answer waits for one. */
  beforeAll(async () => {
    tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
  });
  afterAll(() => tested.close());

  const rowsOf = (reference: string) => tested.store.inbox.list({ flowId: `bridge-transfer/${reference}` });

  it('is stored as trusted with a valid signature, and as unverified without one', async () => {
    const [one, other] = [newReference(), newReference()];
    const body = JSON.stringify(settlement(one, 'COMPLETED'));
    expect(await tested.post(SETTLEMENT_PATH, body, signed(SETTLEMENT_SECRET, body))).toEqual({
      status: 200,
      body: RECEIVED,
    });
    expect(await tested.post(SETTLEMENT_PATH, settlement(other, 'COMPLETED'))).toEqual({ status: 200, body: RECEIVED });
    expect(await rowsOf(one)).toMatchObject([
      { proof: 'signature', status: 'COMPLETED', state: 'waiting', reference: one },
    ]);
    expect(await rowsOf(other)).toMatchObject([{ proof: null, status: 'COMPLETED', state: 'waiting' }]);
  });

  it('is trusted on the capability URL of the provider, whose body names the flow', async () => {
    const reference = newReference();
    const path = new URL(tested.gateway.inbound.settlement ?? '').pathname;
    await tested.post(path, settlement(reference, 'FAILED'));
    expect(await rowsOf(reference)).toMatchObject([{ proof: 'capability', source: 'settlement', status: 'FAILED' }]);
  });

  it('is trusted on the callback URL of its flow', async () => {
    const reference = newReference();
    await tested.post(tested.callbackPath(reference), { status: 'PAYMENT_SENT' });
    expect(await rowsOf(reference)).toMatchObject([
      { proof: 'capability', source: 'callback', status: 'PAYMENT_SENT' },
    ]);
  });

  it('is stored if it has a byte order mark in front, signed over the bytes that came', async () => {
    const [plain, marked, callback] = [newReference(), newReference(), newReference()];
    const text = `\ufeff${JSON.stringify(settlement(marked, 'COMPLETED'))}`;
    const { status } = await rawRequest(tested.url, SETTLEMENT_PATH, text, signed(SETTLEMENT_SECRET, text));
    expect(status).toBe(200);
    expect(await rowsOf(marked)).toMatchObject([{ proof: 'signature', status: 'COMPLETED' }]);
    const bare = JSON.stringify(settlement(plain, 'COMPLETED'));
    const otherBytes = await rawRequest(tested.url, SETTLEMENT_PATH, `\ufeff${bare}`, signed(SETTLEMENT_SECRET, bare));
    expect([otherBytes.status, await rowsOf(plain)]).toEqual([401, []]);
    expect((await rawRequest(tested.url, tested.callbackPath(callback), '\ufeff{"status":"FAILED"}')).status).toBe(200);
    expect(await rowsOf(callback)).toMatchObject([{ proof: 'capability', status: 'FAILED' }]);
  });

  it('is refused with one answer for every wrong signature, and leaves a row only if it is out of its time', async () => {
    const reference = newReference();
    const body = JSON.stringify(settlement(reference, 'COMPLETED'));
    const wrong = [
      signed(`whsec_${randomBytes(32).toString('base64')}`, body),
      signed(SETTLEMENT_SECRET, `${body} `),
      signed(SETTLEMENT_SECRET, body, { atMs: Date.now() - 6 * 60_000 }),
      signed(SETTLEMENT_SECRET, body, { atMs: Date.now() - 6 * 86_400_000 }),
      { ...signed(SETTLEMENT_SECRET, body), 'webhook-signature': 'v1,AAAA' },
    ];
    const answers = await Promise.all(wrong.map((headers) => tested.post(SETTLEMENT_PATH, body, headers)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual({
      status: 401,
      body: {
        success: false,
        message: expect.any(String),
        error_code: 'INVALID_API_KEY',
        data: { errors: [] },
        towline: { by: 'gateway', code: 'signature_invalid' },
      },
    });
    expect(await rowsOf(reference)).toEqual([expect.objectContaining({ proof: null, repeats: 1 })]);
  });

  it('cannot distinguish a wrong capability, a malformed reference and an unknown path', async () => {
    const [reference, other] = [newReference(), newReference()];
    const right = tested.callbackPath(reference);
    const wrong = [
      right.slice(0, -1),
      `${right}0`,
      right.slice(0, -1) + (right.endsWith('0') ? '1' : '0'),
      right.toUpperCase(),
      tested.callbackPath(other).replace(other, reference),
      `/settlements/${'a'.repeat(43)}`,
      '/settlements/x',
      `/webhooks/${'a'.repeat(43)}`,
      right.replace(reference, `${reference}..`),
      right.replace('bridge-transfer', 'constructor'),
      right.replace('bridge-transfer', 'onramp'),
      '/no/such/path',
    ];
    const answers = await Promise.all(wrong.map((path) => rawRequest(tested.url, path, '{}')));
    const seen = answers.map(({ status, headers, body }) => {
      const { date: _date, 'x-request-id': _id, ...rest } = headers;
      return JSON.stringify({ status, rest, body });
    });
    expect(new Set(seen).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    expect(await rowsOf(reference)).toEqual([]);
  });

  it('is asked to come by POST if it came by another method, whether the address is right or not', async () => {
    const path = tested.callbackPath(newReference());
    const answers = await Promise.all(
      ['GET', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
        [path, SETTLEMENT_PATH, `${path}x`].map((to) => rawRequest(tested.url, to, '', {}, false, method)),
      ),
    );
    const seen = answers.map(({ status, headers }) => `${status} ${String(headers['allow'])}`);
    expect(seen).toHaveLength(12);
    expect(new Set(seen)).toEqual(new Set(['405 POST']));
    const elsewhere = await rawRequest(tested.url, '/no/such/path', '', {}, false, 'DELETE');
    expect([elsewhere.status, elsewhere.headers['allow']]).toEqual([404, undefined]);
    const flow = await rawRequest(tested.url, '/flows/bridge-transfer/x', '', {}, false, 'DELETE');
    expect([flow.status, flow.headers['allow']]).toEqual([405, 'GET']);
  });

  it('keeps what it cannot match, and never answers 404 for an unknown reference', async () => {
    const strange = [
      { hello: 'world' },
      [1, 2],
      '"text"',
      7,
      { provider_reference_id: '../../etc', status: 'COMPLETED' },
    ];
    for (const body of strange) expect((await tested.post(SETTLEMENT_PATH, body)).status).toBe(200);
    const unmatched = await tested.store.inbox.list({ state: 'unmatched' });
    expect(unmatched).toHaveLength(strange.length);
    expect(unmatched.every(({ flowId, reference }) => flowId === null && reference === null)).toBe(true);
  });

  it('fault 25: is one event when its content comes again: at once, and under new delivery ids', async () => {
    const reference = newReference();
    const path = tested.callbackPath(reference);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tested.post(path, { status: 'COMPLETED', n: 1.0 })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await rowsOf(reference)).toMatchObject([{ repeats: 19 }]);

    const other = newReference();
    const body = JSON.stringify(settlement(other, 'COMPLETED'));
    for (let delivery = 0; delivery < 20; delivery += 1) {
      await tested.post(
        SETTLEMENT_PATH,
        body,
        signed(SETTLEMENT_SECRET, body, { atMs: Date.now() - delivery * 1_000 }),
      );
    }
    expect(await rowsOf(other)).toMatchObject([{ repeats: 19 }]);
  });

  it('is refused if it is too large, compressed, not JSON, or tricky, and the answer has the reason', async () => {
    const path = tested.callbackPath(newReference());
    const send = async (body: string | Buffer, headers: Record<string, string | string[]> = {}) =>
      (await rawRequest(tested.url, path, body, headers)).status;
    const filler = (length: number) => JSON.stringify({ a: 'x'.repeat(length - 8) });
    expect(await send(filler(65_536))).toBe(200);
    expect(await send(filler(65_537))).toBe(413);
    expect(await send(gzipSync('{}'), { 'content-encoding': 'gzip' })).toBe(415);
    expect(await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
    expect(await send('{}', { 'content-type': 'text/plain' })).toBe(415);
    expect(await send('')).toBe(400);
    expect(await send('{"a":')).toBe(400);
    expect(await send('{"amount":1,"amount":2}')).toBe(400);
    expect(await send('{"amount":NaN}')).toBe(400);
    expect(await send('{"__proto__":{"status":"COMPLETED"}}')).toBe(400);
    expect(await send('{"constructor":{"prototype":{"polluted":true}}}')).toBe(400);
    expect(await send(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)).toBe(400);
    expect(await send(`\ufeff\ufeff{}`)).toBe(400);
    expect(await send('{}', { 'x-large': 'x'.repeat(10_000) })).toBe(431);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('fault 37: answers 503 with Retry-After if the row cannot be made durable: no 2xx without a row', async () => {
    let isFull = true;
    const failing = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      wrapStore: (store) => ({
        ...store,
        inbox: {
          ...store.inbox,
          receive: (event) =>
            isFull ? Promise.reject(new StoreUnavailableError('SQLITE_FULL')) : store.inbox.receive(event),
        },
      }),
    });
    const reference = newReference();
    const path = failing.callbackPath(reference);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => rawRequest(failing.url, path, JSON.stringify({ n }))),
    );
    expect(answers.every(({ status, headers }) => status === 503 && headers['retry-after'] === '5')).toBe(true);
    isFull = false;
    expect((await failing.post(path, { n: 0 })).status).toBe(200);
    expect(await failing.store.inbox.list({ flowId: `bridge-transfer/${reference}` })).toHaveLength(1);
    await failing.close();
  });

  it('leaves no capability, header or body in the log, and names the flow', async () => {
    const reference = newReference();
    const path = tested.callbackPath(reference);
    await tested.post(path, { status: 'COMPLETED', name: 'Canary Jane' });
    await tested.post(`${path}x`, { status: 'COMPLETED', name: 'Canary Jane' });
    const text = JSON.stringify(tested.log);
    expect(tested.log.length).toBeGreaterThan(10);
    for (const secret of [path.split('/').at(-1), 'Canary', 'dev-token', 'whsec_']) {
      expect(text).not.toContain(secret);
    }
    const requests = tested.log.filter(({ route, flowId }) => route !== undefined && flowId !== undefined);
    expect(requests.map(({ flowId }) => flowId)).toContain(`bridge-transfer/${reference}`);
  });
});

describe('settlement trust', () => {
  const proofs = async (env: Record<string, string>) => {
    const tested = await gatewayUnderTest({ env });
    const capability = new URL(tested.gateway.inbound.settlement ?? '').pathname;
    const proofOf = async (path: string, sign: boolean) => {
      const reference = newReference();
      const body = JSON.stringify(settlement(reference, 'COMPLETED'));
      await tested.post(path, body, sign ? signed(SETTLEMENT_SECRET, body) : {});
      const [row] = await tested.store.inbox.list({ flowId: `bridge-transfer/${reference}` });
      return row?.proof;
    };
    const found = [
      await proofOf(SETTLEMENT_PATH, false),
      await proofOf(SETTLEMENT_PATH, true),
      await proofOf(capability, false),
      await proofOf(capability, true),
    ];
    await tested.close();
    return found;
  };

  it.each([
    ['corroborated', {}, [null, 'signature', 'capability', 'signature']],
    ['corroborated', { SETTLEMENT_NETWORKS: '127.0.0.0/8' }, ['network', 'signature', 'capability', 'signature']],
    ['corroborated', { SETTLEMENT_NETWORKS: '203.0.113.0/24' }, [null, 'signature', 'capability', 'signature']],
    ['signed', {}, [null, 'signature', null, 'signature']],
    ['signed', { SETTLEMENT_NETWORKS: '127.0.0.0/8' }, [null, 'signature', null, 'signature']],
    ['network', { SETTLEMENT_NETWORKS: '127.0.0.0/8' }, ['network', 'signature', 'network', 'signature']],
    ['network', { SETTLEMENT_NETWORKS: '203.0.113.0/24' }, [null, 'signature', null, 'signature']],
  ])('%s with %j takes these as proof: plain, signed, capability, both', async (trust, env, expected) => {
    expect(await proofs({ SETTLEMENT_TRUST: trust, ...env })).toEqual(expected);
  });
});
