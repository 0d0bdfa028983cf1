import { describe, expect, test } from '@jest/globals';
import {
  InvalidError,
  JsonText,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  Towline,
  TowlineError,
  UnavailableError,
  UnreachableError,
} from '../../src/sdk/index.js';
import { startFailingGateway, type Turn } from './failing-gateway.js';

const gateway = await startFailingGateway();
const TOKEN = 'a-canary-token';
const SENTENCE = 'A sentence of the gateway.';
const towline = new Towline({ baseUrl: `${gateway.url}/`, token: TOKEN });
const FLOW = 'bridge-transfer/order-1';
const INPUT = new JsonText('{"provider_reference_id":"order-1"}');

const flow = (state: string): Turn => ({ status: 200, body: { flowId: FLOW, state } });
const refusal = (status: number, data: object = {}, headers: Record<string, string> = {}): Turn => ({
  status,
  body: { success: false, message: SENTENCE, data },
  headers,
});
const errorOf = (asked: Promise<unknown>): Promise<TowlineError> =>
  asked.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TowlineError,
  );

describe('Towline (SDK) throws an error of its own for a refusal:', () => {
  test.each([
    [401, NotAuthorisedError],
    [403, NotAuthorisedError],
    [404, NotFoundError],
    [409, RefusedError],
    [400, InvalidError],
    [413, InvalidError],
    [422, InvalidError],
    [500, UnavailableError],
  ])('status %d', async (status, kind) => {
    gateway.plays(refusal(status));
    const error = await errorOf(towline.approveQuote(FLOW));
    expect(error).toBeInstanceOf(kind);
    expect(error).toBeInstanceOf(TowlineError);
    expect(error.name).toBe(kind.name);
    expect(error.message).toContain(SENTENCE);
    expect(gateway.asked).toEqual(['POST /flows/bridge-transfer/order-1/approve-quote']);
  });

  test('409 at a start throws OtherRequestError', async () => {
    gateway.plays(refusal(409));
    expect(await errorOf(towline.start('bridge-transfer', INPUT))).toBeInstanceOf(OtherRequestError);
  });

  test('an order that is not legal names those that are', async () => {
    gateway.plays(refusal(409, { actions: ['keep-waiting'] }));
    const error = await errorOf(towline.resolve(FLOW, { action: 'refund-now', note: 'x' }));
    expect((error as RefusedError).actions).toEqual(['keep-waiting']);
  });

  test('an input names each member at fault', async () => {
    const errors = [{ path: 'settlement.amount', message: 'must be above zero' }];
    gateway.plays(refusal(400, { errors }));
    const error = await errorOf(towline.start('bridge-transfer', INPUT));
    expect((error as InvalidError).members).toEqual(errors);
    expect(error.message).toBe(`${SENTENCE}\n  settlement.amount: must be above zero`);
  });

  test.each([
    ['a page in HTML', { status: 200, body: '<html>' }],
    ['a redirect', { status: 302, body: '{}', headers: { location: 'http://127.0.0.1:1/' } }],
    ['somebody else’s 404', { status: 404, body: '<html>' }],
  ] as [string, Turn][])('%s is found to be no gateway', async (_, turn) => {
    const asking = new Towline({ baseUrl: gateway.url, token: TOKEN, retryForMs: 0 });
    gateway.plays(turn);
    const error = await errorOf(asking.show(FLOW));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ wasNotSent: false });
  });

  test('no error holds the token', async () => {
    gateway.plays(refusal(401));
    const { message, stack } = await errorOf(towline.show(FLOW));
    expect(`${message} ${stack}`).not.toContain(TOKEN);
  });
});

describe('Towline (SDK) asks again', () => {
  const lost: [string, Turn][] = [
    ['the answer is lost', 'cut'],
    ['502, of what stands before a gateway that restarts', { status: 502, body: '<html>' }],
    ['503', refusal(503)],
    ['504', refusal(504)],
  ];
  test.each(lost)('for a start, with the same bytes: one reference is one flow (%s)', async (_, turn) => {
    gateway.plays(turn, turn, flow('running'));
    expect((await towline.start('bridge-transfer', INPUT)).state).toBe('running');
    expect(gateway.asked).toHaveLength(3);
    expect(new Set(gateway.bodies)).toEqual(new Set([INPUT.text]));
  });

  test.each(lost)('for reads, cancel and pay (%s)', async (_, turn) => {
    const payer = { mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' } } as const;
    for (const ask of [
      () => towline.show(FLOW),
      () => towline.cancel(FLOW, { note: 'ordered twice' }),
      () => towline.pay('invoice-payment/inv-1', payer),
    ]) {
      gateway.plays(turn, flow('running'));
      expect((await ask()).state).toBe('running');
      expect(gateway.asked).toHaveLength(2);
    }
  });

  test.each(lost)('for no order that could count twice (%s)', async (_, turn) => {
    for (const ask of [
      () => towline.resolve(FLOW, { action: 'send-again', note: 'x' }),
      () => towline.approveQuote(FLOW),
      () => towline.provideRefundInvoice('offramp/o-1', 'lnbc1x'),
    ]) {
      gateway.plays(turn, flow('running'));
      await errorOf(ask());
      expect(gateway.asked).toHaveLength(1);
    }
  });

  test('for any order that did not get out, or was refused for its rate alone', async () => {
    await gateway.stop();
    const asked = towline.approveQuote(FLOW);
    const once = new Towline({ baseUrl: gateway.url, token: TOKEN, retryForMs: 0 });
    expect(await errorOf(once.approveQuote(FLOW))).toMatchObject({ wasNotSent: true });
    gateway.plays(refusal(429, {}, { 'retry-after': '0' }), flow('running'));
    await gateway.restart();
    expect((await asked).state).toBe('running');
    expect(gateway.asked).toHaveLength(2);
  });

  test('not after a refusal, nor after a fault of the gateway, which would repeat itself', async () => {
    for (const status of [400, 401, 404, 409, 500]) {
      gateway.plays(refusal(status), flow('running'));
      await errorOf(towline.start('bridge-transfer', INPUT));
      expect(gateway.asked).toHaveLength(1);
    }
  });

  test('no longer than the caller allows, and not if the gateway asks for a longer pause', async () => {
    const patient = new Towline({ baseUrl: gateway.url, token: TOKEN, retryForMs: 1_500 });
    gateway.plays('cut');
    expect(await errorOf(patient.show(FLOW))).toBeInstanceOf(UnreachableError);
    expect(gateway.asked.length).toBeGreaterThan(2);
    gateway.plays(refusal(503, {}, { 'retry-after': '60' }));
    expect(await errorOf(patient.show(FLOW))).toMatchObject({ status: 503, retryAfterMs: 60_000 });
    expect(gateway.asked).toHaveLength(1);
  });

  test('never after its signal: in a request, and between two', async () => {
    for (const turn of ['hang', 'cut'] as const) {
      const controller = new AbortController();
      gateway.plays(turn);
      const asked = towline.start('bridge-transfer', INPUT, { signal: controller.signal });
      while (gateway.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
    }
  });
});

describe('wait of Towline (SDK)', () => {
  test('continues through a restart of the gateway, and through polls that end too early', async () => {
    gateway.plays(flow('running'), 'cut', { status: 503, body: '' }, flow('running'), flow('completed'));
    const waiting = towline.wait(FLOW);
    while (gateway.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await gateway.stop();
    await gateway.restart();
    expect((await waiting).state).toBe('completed');
    expect(gateway.asked).toHaveLength(5);
    expect(new Set(gateway.asked)).toEqual(new Set([`GET /flows/${FLOW}/wait?timeoutSeconds=50`]));
  });

  test('ends with a flow that parked; result does not', async () => {
    gateway.plays(flow('parked'), flow('refunded'));
    expect((await towline.wait(FLOW)).state).toBe('parked');
    gateway.plays(flow('parked'), flow('refunded'));
    expect((await towline.result(FLOW)).state).toBe('refunded');
  });

  test('gives the flow as it is when the time is up', async () => {
    gateway.plays(flow('running'));
    expect((await towline.wait(FLOW, { timeoutMs: 0 })).state).toBe('running');
    expect(gateway.asked).toEqual([`GET /flows/${FLOW}/wait?timeoutSeconds=0`]);
  });

  test('fails if the gateway is unavailable for longer than the caller allows', async () => {
    gateway.plays('cut');
    expect(await errorOf(towline.wait(FLOW, { outageMs: 500 }))).toBeInstanceOf(UnreachableError);
  });

  test('fails at once if there is no such flow', async () => {
    gateway.plays(refusal(404));
    expect(await errorOf(towline.wait(FLOW))).toBeInstanceOf(NotFoundError);
    expect(gateway.asked).toHaveLength(1);
  });
});

test('Towline (SDK) keeps the digits of a number if JSON is given as text', async () => {
  gateway.plays(flow('running'));
  await towline.start('bridge-transfer', new JsonText('{"amount":9007199254740993.10}'));
  expect(gateway.bodies).toEqual(['{"amount":9007199254740993.10}']);
});

describe('Towline (SDK), before anything is sent:', () => {
  test.each([
    '',
    'order-1',
    'bridge-transfer/',
    'bridge-transfer/../events',
    'unknown/order-1',
    'onramp/a/b',
    'onramp/a?b',
  ])('a flow id is checked: %j', async (flowId) => {
    gateway.plays(flow('running'));
    expect(() => towline.show(flowId)).toThrow(InvalidError);
    expect(gateway.asked).toEqual([]);
  });

  test.each([
    ['', TOKEN, 'baseUrl must be'],
    ['ftp://127.0.0.1', TOKEN, 'baseUrl must be'],
    ['https://ada:secret@gateway.example', TOKEN, 'without user'],
    ['http://gateway.example', TOKEN, 'must begin with https'],
    ['https://gateway.example', '', 'token must be'],
    ['https://gateway.example', 'two words', 'token must be'],
  ])('options are checked: %j', (baseUrl, token, sentence) => {
    expect(() => new Towline({ baseUrl, token })).toThrow(sentence);
  });

  test('http to another machine is accepted if that is allowed explicitly', () => {
    expect(new Towline({ baseUrl: 'http://gateway:8400/', token: TOKEN, allowHttp: true }).url).toBe(
      'http://gateway:8400',
    );
  });
});
