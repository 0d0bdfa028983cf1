import { describe, expect, it } from '@jest/globals';
import { operations } from '../../../src/contract/index.js';
import { flowOf } from '../../../src/flows/index.js';
import { callerOf, invoiceBody, PATHS, sample, type Caller } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { likeKinds, type NamedKind } from '../../harness/kinds.js';
import { newReference } from '../../harness/references.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

const TOKENS = 'shop:flows:secret-of-shop,root:admin:secret-of-root,dev:admin:dev-token';
const WEBHOOK_SECRET = 'canary-webhook-secret';

describe('what passes through the proxy:', () => {
  let stack: Stack;
  let shop: Caller;
  let root: Caller;
  const options = { sandbox: { stepMs: 20 } };
  withStack({ env: { TIME_SCALE: '0.02', GATEWAY_TOKENS: TOKENS }, ...options }, (opened) => {
    stack = opened;
    shop = callerOf(stack.url, 'secret-of-shop');
    root = callerOf(stack.url, 'secret-of-root');
  });

  const reference = async (name: 'sendCrypto' | 'createOnramp') => {
    const made = newReference(name);
    const { path, body } = sample(name, made);
    expect((await shop.post(path, body)).status).toBe(200);
    return made;
  };

  it('a read is the answer of the service, byte for byte', async () => {
    const made = await reference('sendCrypto');
    await stack.get(`/flows/crypto-send/${made}/wait?timeoutSeconds=300`);
    const path = `${PATHS.send}/${made}`;
    const [direct, through] = await Promise.all(
      Object.entries({ [SERVICE_TOKEN]: stack.sandbox.url, 'secret-of-shop': stack.url }).map(async ([token, url]) =>
        (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).text(),
      ),
    );
    expect(through).toBe(direct);
    expect(await shop.get(`${PATHS.send}/nothing-of-ours`)).toMatchObject({
      status: 404,
      body: { success: false },
    });
    expect((await shop.get(`${PATHS.send}/a..b`)).status).toBe(400);
  });

  it('a record that repeats our callback URL is shown without it', async () => {
    const made = await reference('createOnramp');
    const { status, body } = await shop.get(`/api/v3/deposit/mobile-money/status/${made}`);
    expect(status).toBe(200);
    expect(body['data']).toMatchObject({ reference_id: made, amount: 1000 });
    expect(JSON.stringify(body)).not.toContain('/callbacks/');
    expect(JSON.stringify((await stack.get(`/flows/onramp/${made}/answers`)).body)).not.toContain('/callbacks/');
  });

  it('the flow answers a read if the service fails at it', async () => {
    const made = await reference('sendCrypto');
    expect((await stack.get(`/flows/crypto-send/${made}/wait?timeoutSeconds=300`)).body['state']).toBe('completed');
    await stack.control('POST', '/faults', { operation: 'getCryptoSend', kind: 'error-before', first: 1 });
    expect(await shop.get(`${PATHS.send}/${made}`)).toMatchObject({
      status: 200,
      // The record is the answer to the POST, its status comes from the flow.
      body: {
        success: true,
        data: { referenceId: made, status: 'SUCCESS', cryptoAmount: 5, chain: expect.anything() },
      },
    });
    await stack.control('POST', '/faults', { operation: 'getCryptoSend', kind: 'error-before', first: 1 });
    expect((await shop.get(`${PATHS.send}/nobody-knows-it`)).status).toBe(500);
  });

  it('a record that shows an earlier state than was proven does not go back behind it', async () => {
    const made = await reference('sendCrypto');
    await stack.get(`/flows/crypto-send/${made}/wait?timeoutSeconds=300`);
    const earlier = JSON.stringify({ success: true, message: 'x', data: { referenceId: made, status: 'PENDING' } });
    for (const body of [earlier, `\ufeff${earlier}`]) {
      await stack.control('POST', '/faults', { operation: 'getCryptoSend', kind: 'garbage', body, first: 1 });
      expect(await shop.get(`${PATHS.send}/${made}`)).toMatchObject({
        status: 200,
        body: { data: { status: 'SUCCESS' } },
      });
    }
  });

  it.each(['onramp', 'on-chain-watch'])(
    'a flow of kind %s reports both legs if the service is silent',
    async (kind) => {
      const made = kind === 'onramp' ? await reference('createOnramp') : await watched(onChainWatch);
      expect((await stack.get(`/flows/${kind}/${made}/wait?timeoutSeconds=300`)).body['state']).toBe('completed');
      await stack.control('POST', '/faults', { operation: 'getOnChainDeposit', kind: 'error-before', first: 1 });
      expect(await shop.get(`/api/v3/deposit/on-chain/status/${made}`)).toMatchObject({
        status: 200,
        body: {
          data: {
            mobile_money: { reference_id: made, status: 'SUCCESSFUL' },
            onchain: { status: 'SUCCESSFUL', crypto_received_status: 'SUCCESSFUL' },
          },
        },
      });
    },
  );

  const [onChainWatch, ...withOneStatus] = likeKinds('watched').toSorted(
    (a, b) => Number(b.kind === 'on-chain-watch') - Number(a.kind === 'on-chain-watch'),
  );

  async function watched(kind: NamedKind | undefined): Promise<string> {
    if (kind === undefined) throw new TypeError('there is no such kind');
    const made = newReference('watched');
    const begun = kind.begunBy?.(made);
    await stack.control('POST', '/scenarios', { reference: made, ending: 'completed', operation: kind.record });
    if (begun !== undefined) await stack.control('POST', begun.path, begun.body);
    await shop.post(`/flows/${kind.kind}`, { ...kind.input(made), timeScale: 0.002 });
    return made;
  }

  it.each(withOneStatus)('the record of a $kind comes from its flow where the service has none', async (kind) => {
    const made = await watched(kind);
    const { body } = await stack.get(`/flows/${kind.kind}/${made}/wait?timeoutSeconds=300`);
    expect(body['state']).toBe('completed');
    const { operation } = flowOf(kind.kind).status ?? { operation: 'getKycStatus' };
    await stack.control('POST', '/faults', { operation, kind: 'error-before', first: 1 });
    expect(await shop.get(operations[operation].path.replace(/\{\w+\}/, made))).toMatchObject({
      status: 200,
      body: { data: { status: kind.open.rest.at(-1) } },
    });
  });

  it('an invoice that is being generated is no 404', async () => {
    const made = newReference('generating');
    const fault = { kind: 'late-commit', connection: 'hang', delayMs: 1_000, first: 1 };
    await stack.control('POST', '/faults', { operation: 'createInvoice', reference: made, ...fault });
    const creating = shop.post(PATHS.invoice, invoiceBody(made));
    for (;;) {
      const { status } = await stack.get(`/flows/invoice-payment/${made}`);
      if (status === 200) break;
    }
    const read = await shop.get(`${PATHS.invoice}/${made}`);
    expect(read.status).toBe(503);
    expect(read.headers.get('retry-after')).toBe('5');
    expect((await creating).status).toBe(200);
    await stack.post(`/flows/invoice-payment/${made}/cancel`, {});
  });

  const ACCOUNT = [
    ['GET', PATHS.key, undefined],
    ['POST', '/api/v3/auth/human-verify', { verificationToken: 'canary-verification' }],
    ['PATCH', '/api/v3/integrator/webhook', { webhook_events: ['payment.confirmed'] }],
    [
      'POST',
      '/api/v3/integrator',
      {
        organization: 'Shop',
        product_name: 'Shop',
        first_name: 'Ada',
        last_name: 'Lo',
        email: 'ada@shop.example',
        phone: '+254712345678',
        country_code: 'KE',
      },
    ],
  ] as const;

  it.each(ACCOUNT)('%s %s needs the role admin, and is made once', async (method, path, body) => {
    expect((await shop.send(method, path, body)).status).toBe(403);
    expect((await callerOf(stack.url, SERVICE_TOKEN).send(method, path, body)).status).toBe(403);
    expect((await callerOf(stack.url, 'nobody').send(method, path, body)).status).toBe(401);
    const answer = await root.send(method, path, body);
    expect(answer).toMatchObject({ status: 200, body: { success: true, data: expect.any(Object) } });
    const secrets = Object.entries(answer.body['data'])
      .filter(([member]) => /^(key|token|refresh_token)$/.test(member))
      .map(([, value]) => String(value));
    const logged = JSON.stringify(stack.log);
    for (const secret of [...secrets, WEBHOOK_SECRET, 'canary-verification']) expect(logged).not.toContain(secret);
    // None of it became a flow.
    expect((await stack.get('/flows?limit=1')).status).toBe(200);
  });

  it('a new webhook secret is not passed on: the gateways would refuse every event that is signed with it', async () => {
    const change = { webhook_secret: WEBHOOK_SECRET, webhook_events: ['payment.confirmed'] };
    expect(await root.send('PATCH', '/api/v3/integrator/webhook', change)).toMatchObject({
      status: 400,
      body: {
        data: { errors: [{ path: 'webhook_secret' }] },
      },
    });
    expect(JSON.stringify(stack.log)).not.toContain(WEBHOOK_SECRET);
  });

  it('an account operation whose answer is lost is not repeated: whether it was done is unknown', async () => {
    await stack.control('POST', '/faults', { operation: 'createApiKey', kind: 'answer-lost', first: 1 });
    expect(await root.get(PATHS.key)).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining('unknown') },
    });
    expect((await fetch(stack.url + PATHS.key, { method: 'HEAD' })).status).toBe(405);
  });
});
