import { createHmac } from 'node:crypto';
import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Received } from './receiver.js';
import { create, sampled, transactionOf } from './samples.js';
import { depositBody, DEPOSIT, type Rig, startRig, STEP_MS } from './start.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const set = (settings: object) => rig.control('POST', '/settings', settings);
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('the signature profile of the sandbox', () => {
  const SECRET = 'the integrator’s own secret';

  /** One event to the account's webhook and one callback, both signed by the same profile. */
  async function posts(webhookProfile: string): Promise<Received[]> {
    const webhookUrl = `${rig.receiver.url}/account`;
    await set({ webhookProfile, webhookUrl, webhookSecret: SECRET, callbackSecret: SECRET });
    await create(rig, 'createBankCheckout', 'r1', { amount: 10.13 });
    await rig.advance(10 * STEP_MS);
    expect(rig.receiver.received.map(({ path }) => path).toSorted()).toEqual(['/account', '/callbacks/r1']);
    return rig.receiver.received;
  }

  it('standard-webhooks signs as the public package verifies', async () => {
    for (const { text, headers } of await posts('standard-webhooks')) {
      const webhook = new Webhook(SECRET, { format: 'raw' });
      expect(webhook.verify(text, headers as Record<string, string>)).toMatchObject({
        event: 'transaction.deposit.status.updated',
        data: { reference_id: 'r1', status: 'FAILED' },
      });
      expect(() => webhook.verify(text.replace('FAILED', 'SUCCESSFUL'), headers as Record<string, string>)).toThrow();
    }
  });

  it('standard-webhooks decodes a secret that is written as the scheme demands', async () => {
    const secret = `whsec_${Buffer.from('bytes of a key').toString('base64')}`;
    await set({ webhookUrl: `${rig.receiver.url}/account`, webhookSecret: secret });
    await rig.control('POST', '/system-event', {});
    await rig.advance(0);
    const [post] = rig.receiver.received;
    expect(new Webhook(secret).verify(post?.text ?? '', post?.headers as Record<string, string>)).toBeDefined();
  });

  it('kotani signs the body without its signature member', async () => {
    for (const { text, headers, body } of await posts('kotani')) {
      const cut = text.replace(/,"signature":"[0-9a-f]{64}"\}$/, '}');
      expect(cut).toBe(JSON.stringify({ event: body.event, data: body.data }));
      expect(headers['x-kotani-signature']).toBe(`sha256=${hmac(SECRET, cut)}`);
      expect(body.signature).toBe(hmac(SECRET, cut));
      expect(headers['x-kotani-event']).toBe('transaction.deposit.status.updated');
      expect(headers['x-kotani-integrator']).toBe('INT-sandbox');
      expect(headers).not.toHaveProperty('webhook-signature');
    }
  });

  it('raw-hmac signs the raw body', async () => {
    for (const { text, headers } of await posts('raw-hmac'))
      expect(headers['x-webhook-signature']).toBe(`sha256=${hmac(SECRET, text)}`);
  });

  it('unsigned sends the bare fields', async () => {
    for (const { headers, body } of await posts('unsigned')) {
      expect(body).toMatchObject({ reference_id: 'r1', status: 'FAILED' });
      expect(Object.keys(headers).filter((name) => /signature|webhook|kotani/.test(name))).toEqual([]);
    }
  });

  it('differs between callbacks and the account’s webhook if set, and signs nothing without a secret', async () => {
    await set({ callbackProfile: 'kotani', callbackSecret: SECRET, webhookUrl: `${rig.receiver.url}/account` });
    await create(rig, 'createBankCheckout', 'r1', { amount: 10.13 });
    await rig.advance(10 * STEP_MS);
    const [callback] = rig.receiver.received.filter(({ path }) => path === '/callbacks/r1');
    const [webhook] = rig.receiver.received.filter(({ path }) => path === '/account');
    expect(callback?.headers).toHaveProperty('x-kotani-signature');
    expect(webhook?.body).toMatchObject({ reference_id: 'r1' });
    expect(webhook?.body).not.toHaveProperty('event');
  });
});

describe('the error bodies of the sandbox', () => {
  const refused = async (errorBody: string) => {
    await set({ errorBody });
    const answer = await create(rig, 'createBankWithdrawal', 'r1', { amount: -1 });
    expect(answer.status).toBe(400);
    return answer.body;
  };

  it('of form A have a number for their code', async () => {
    expect(await refused('A')).toMatchObject({
      success: false,
      message: 'Validation failed',
      error_code: 400,
      data: { errors: [{ path: 'amount' }] },
    });
  });

  it('of form B have no code', async () => {
    const body = await refused('B');
    expect(body).toMatchObject({ success: false, data: { errors: [{ path: 'amount' }] } });
    expect(body).not.toHaveProperty('error_code');
  });

  it('of form C have a word for their code, and the time', async () => {
    const body = await refused('C');
    expect(Object.keys(body).toSorted()).toEqual(['error_code', 'message', 'status', 'timestamp']);
    expect(body).toMatchObject({ status: 'error', error_code: 'VALIDATION_ERROR' });
    expect(body.message).toContain('amount');
  });

  it('of form D have the HTTP status', async () => {
    expect(await refused('D')).toEqual({
      statusCode: 400,
      message: expect.stringContaining('amount'),
      error: 'Bad Request',
      data: {},
    });
  });

  it.each(['A', 'B', 'C', 'D'])('of form %s are what 401, 404, 409, 429 and 500 have', async (errorBody) => {
    await set({ errorBody, repeatMode: 'conflict' });
    const operation = 'getOfframp';
    const lookup = (token?: string) => rig.call('GET', '/api/v3/offramp/r1', undefined, token);
    const bodies = [(await lookup('wrong')).body, (await lookup()).body];
    await create(rig, 'createOfframp', 'r1');
    bodies.push((await create(rig, 'createOfframp', 'r1')).body);
    for (const hint of ['header', 'data.retryAfter', 'retry_after']) {
      await rig.control('POST', '/faults', { operation, kind: 'rate-limited', hint, retryAfterSeconds: 7, first: 1 });
      const { headers, body } = await lookup();
      expect([headers.get('retry-after'), String(body.data?.retryAfter), String(body.retry_after)]).toContain('7');
      bodies.push(body);
    }
    await rig.control('POST', '/faults', { operation, kind: 'error-before', first: 1 });
    bodies.push((await lookup()).body);
    const marks = { A: 'success', B: 'success', C: 'timestamp', D: 'statusCode' };
    for (const body of bodies) expect(body).toHaveProperty(marks[errorBody as keyof typeof marks]);
    // Control stays unchanged: a driver of the sandbox must not have to know its settings.
    expect((await rig.control('GET', '/deposits/none')).body).toMatchObject({
      success: false,
      error_code: 'NOT_FOUND',
    });
  });
});

describe('the numbers of the sandbox', () => {
  const numbersIn = (value: unknown): unknown[] =>
    typeof value === 'number'
      ? [value]
      : typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(numbersIn)
        : [];

  it('come as strings in every answer, callback and webhook, if so set', async () => {
    await set({ numbersAsStrings: true, webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 's' });
    const answers = [await rig.call('POST', DEPOSIT, depositBody('b1', `${rig.receiver.url}/callbacks/b1`))];
    for (const name of sampled) answers.push(await create(rig, name, name));
    await rig.advance(10 * STEP_MS);
    answers.push(await rig.call('GET', '/api/v3/offramp/createOfframp'));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.flatMap(({ body }) => numbersIn(body))).toEqual([]);
    expect(rig.receiver.received.length).toBeGreaterThan(10);
    expect(rig.receiver.received.flatMap(({ body }) => numbersIn(body))).toEqual([]);
    expect(answers.at(-1)?.body.data.fiatAmount).toBe('1295');
  });
});

describe('the live vocabulary of the sandbox', () => {
  beforeEach(() => set({ vocabulary: 'live' }));
  const statusesOf = (reference: string) =>
    rig.receiver.received.filter(({ path }) => path.endsWith(reference)).map(({ body }) => body.status as string);

  it('has status words that the interface does not have', async () => {
    await create(rig, 'createOnramp', 'onramp');
    await create(rig, 'createBankCheckout', 'expired', { amount: 10.23 });
    await create(rig, 'createBankCheckout', 'reversed', { amount: 10.21 });
    await create(rig, 'createBankCheckout', 'review', { amount: 10.25 });
    await create(rig, 'createBankWithdrawal', 'withdrawal');
    await create(rig, 'createOfframp', 'offramp', { cryptoAmount: 10.13 });
    await rig.advance(20 * STEP_MS);
    expect(statusesOf('onramp')).toEqual(['CRYPTO_PENDING', 'PROCESSING', 'SUCCESS']);
    expect(statusesOf('expired')).toEqual(['PENDING', 'EXPIRED']);
    expect(statusesOf('reversed')).toEqual(['PENDING', 'SUCCESSFUL', 'REVERSED']);
    expect(statusesOf('review')).toEqual(['PENDING', 'REQUIRE_REVIEW']);
    expect(statusesOf('withdrawal')).toEqual(['PENDING', 'PROCESSING', 'SUCCESS']);
    expect(statusesOf('offramp')).toEqual(['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING', 'REFUNDED']);
    const legs = (await rig.call('GET', '/api/v3/deposit/on-chain/status/onramp')).body.data;
    expect(legs.mobile_money.reference_number).toMatch(/^MP\d+$/);
    expect((await transactionOf(rig, 'onramp')).word).toBe('SUCCESS');
  });

  it('has two spellings of the reference and its number', async () => {
    for (let n = 0; n < 12; n += 1) await create(rig, 'createBankCheckout', `r${n}`);
    await rig.advance(10 * STEP_MS);
    const bodies = rig.receiver.received.map(({ body }) => body as Record<string, unknown>);
    const references = bodies.map((body) => ('reference_id' in body ? 'reference_id' : 'referenceId'));
    const numbers = bodies.map((body) => typeof (body['reference_number'] ?? body['referenceNumber']));
    expect(new Set(references).size).toBe(2);
    expect(new Set(numbers)).toEqual(new Set(['string', 'number']));
    expect(bodies.every((body) => String(body['reference_id'] ?? body['referenceId']).startsWith('r'))).toBe(true);
  });
});

it('the sandbox answers 421 to a Host that is no name of this machine: a web page can make its own name lead here', async () => {
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      get(`${rig.sandbox.url}/_sandbox`, { headers: { host }, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
    });
  for (const host of ['127.0.0.1:8401', 'localhost', '[::1]:8401', 'host.docker.internal']) {
    expect({ host, status: await ask(host) }).toEqual({ host, status: 200 });
  }
  for (const host of ['evil.example:8401', 'localhost.evil.example'])
    expect({ host, status: await ask(host) }).toEqual({ host, status: 421 });
});
