import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accessOf, openService } from '../../harness/service.js';
import { createServiceClient, type ServiceClient } from '../../../src/service-client/index.js';
import { DEVELOPMENT_SERVICE_TOKEN } from '../../../src/config/settings.js';
import { startCuttingProxy, type CuttingProxy } from '../../store/cutting-proxy.js';
import { closedPort } from '../../cli/run.js';
import { until } from '../../harness/until.js';
import { callerOf, invoiceBody, PATHS, paymentBody, QUOTE_BODY, sample } from './caller.js';
import { gatewayUnderTest, type GatewayUnderTest } from '../setup/gateway-under-test.js';
import { newReference } from '../../harness/references.js';

describe('if everything but Temporal is down', () => {
  let tested: GatewayUnderTest;
  let client: ServiceClient;
  beforeAll(async () => {
    client = createServiceClient({
      baseUrl: `http://127.0.0.1:${await closedPort()}`,
      token: () => Promise.resolve('any-token'),
    });
    tested = await gatewayUnderTest({
      env: { PROXY_TIMEOUT: '0.5' },
      gateway: { service: accessOf(client, 'any-token') },
    });
  });
  afterAll(async () => {
    await tested.close();
    client.close();
  });
  const caller = () => callerOf(tested.url, 'any-token');
  const terminate = (flow: string) => tested.client.workflow.getHandle(flow).terminate();

  it('a money POST is accepted once: it is in Temporal', async () => {
    const reference = newReference('taken');
    const { path, body } = sample('sendCrypto', reference);
    const answers = await Promise.all([caller().post(path, body), caller().post(path, body)]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 202, body: { success: true, data: { referenceId: reference } } });
      expect(answer.headers.get('location')).toBe(`/flows/crypto-send/${reference}`);
    }
    // Not a 404, and not an error: it is on its way.
    expect(await caller().get(`${path}/${reference}`)).toMatchObject({
      status: 200,
      body: { data: { status: 'PENDING' } },
    });
    await terminate(`crypto-send/${reference}`);
  });

  it('an order to pay that no worker accepted is not answered as accepted', async () => {
    const reference = newReference('order');
    expect((await caller().post(PATHS.invoice, invoiceBody(reference))).status).toBe(202);
    const answer = await caller().post(PATHS.pay, paymentBody(reference));
    expect(answer).toMatchObject({ status: 503, body: { success: false, towline: { reference } } });
    expect(answer.headers.get('retry-after')).toBe('5');
    await terminate(`invoice-payment/${reference}`);
  });

  it('a read of a terminated flow shows what its claims were closed as', async () => {
    const [paid, closed] = [newReference('paid'), newReference('closed')];
    const read = async (reference: string) => {
      const { status, body } = await caller().get(`${PATHS.send}/${reference}`);
      return [status, body['data']['status']];
    };
    const close = (reference: string, as: string) =>
      tested.post(`/flows/crypto-send/${reference}/close-claims`, { as, note: 'looked at the chain' });
    for (const reference of [paid, closed]) {
      const { path, body } = sample('sendCrypto', reference);
      expect((await caller().post(path, body)).status).toBe(202);
      await terminate(`crypto-send/${reference}`);
      expect(await read(reference)).toEqual([200, 'PENDING']);
    }
    const key = { account: 'default', operation: 'sendCrypto', reference: paid };
    await tested.store.claims.reserve(key, { owner: 'o', flowId: `crypto-send/${paid}`, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await tested.store.claims.recordAnswer(key, {});
    expect((await close(paid, 'completed')).status).toBe(200);
    expect(await read(paid)).toEqual([200, 'SUCCESS']);
    expect((await close(closed, 'not-executed')).status).toBe(200);
    // Its flow knows no more than the service.
    expect(await read(closed)).toEqual([503, undefined]);
    // Nothing was reserved for it, and a repeat of the same request is none of another one.
    const again = sample('sendCrypto', closed);
    const repeated = await caller().post(again.path, again.body);
    expect(repeated).toMatchObject({ status: 409, body: { towline: { code: 'not_executed' } } });
  });

  it('an order to pay an invoice whose flow ended otherwise is refused, and not answered as if it had been carried out', async () => {
    const reference = newReference('marked');
    const flowId = `invoice-payment/${reference}`;
    expect((await caller().post(PATHS.invoice, invoiceBody(reference))).status).toBe(202);
    await terminate(flowId);
    const key = { account: 'default', operation: 'createInvoice', reference };
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await tested.store.claims.recordAnswer(key, {});
    const order = { as: 'completed', note: 'paid on its own page' };
    expect((await tested.post(`/flows/${flowId}/close-claims`, order)).status).toBe(200);
    expect(await caller().post(PATHS.pay, paymentBody(reference))).toMatchObject({
      status: 409,
      body: { success: false, towline: { reference, code: 'paid_by_another_way' } },
    });
  });

  it('a quote and a read without a flow say that the service cannot be reached', async () => {
    expect((await caller().post(PATHS.quote, QUOTE_BODY)).status).toBe(503);
    expect(await caller().get(`${PATHS.send}/nobody-knows-it`)).toMatchObject({
      status: 503,
      body: { success: false, towline: { code: 'service_unreachable' } },
    });
  });
});

describe('if Temporal is down', () => {
  it('a money POST is answered 503 and not accepted', async () => {
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('any-token') });
    const alone = await gatewayUnderTest({
      env: { PROXY_TIMEOUT: '0.5' },
      temporalAddress: '127.0.0.1:1',
      gateway: { service: accessOf(client, 'any-token') },
    });
    const { path, body } = sample('sendCrypto', newReference('lost'));
    const answer = await callerOf(alone.url, 'any-token').post(path, body);
    await alone.close();
    client.close();
    expect(answer).toMatchObject({ status: 503, body: { success: false } });
  });

  it('a read of what the service does not show is no 404: whether it has a flow is not known', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'towline-away-'));
    const sandbox = { token: 'any-token', dbPath: join(scratch, 'sandbox.db') };
    const parts = await openService({ timeoutMs: 8_000, sandbox });
    const alone = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      gateway: { service: accessOf(parts.service, 'any-token') },
    });
    const answer = await callerOf(alone.url, 'any-token').get(`${PATHS.send}/not-shown-yet`);
    await alone.close();
    await parts.close();
    await rm(scratch, { recursive: true, force: true });
    expect(answer).toMatchObject({ status: 503, body: { towline: { code: 'temporal_unavailable' } } });
    expect(answer.headers.get('retry-after')).toBe('5');
  });
});

describe('if Temporal goes down after it took a payment', () => {
  let proxy: CuttingProxy;
  let tested: GatewayUnderTest;
  let client: ServiceClient;
  beforeAll(async () => {
    const [host = '', port] = (process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':');
    proxy = await startCuttingProxy({ host, port: Number(port) });
    client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('any-token') });
    tested = await gatewayUnderTest({
      env: { PROXY_TIMEOUT: '3' },
      temporalAddress: new URL(proxy.through('tcp://temporal')).host,
      gateway: { service: accessOf(client, 'any-token') },
    });
  });
  afterAll(async () => {
    await tested.close();
    client.close();
    await proxy.close();
  });

  it('its caller, who gave no reference, gets ours, and pays once with it', async () => {
    const { path, body } = sample('createBankCheckout', 'unused');
    const { referenceId: _none, ...bare } = body;
    const { post } = callerOf(tested.url, 'any-token');
    const cut = proxy.cutAt('bank-checkout/tw-', 'after').then(() => proxy.down(true));
    const [lost] = await Promise.all([post(path, bare), cut]);
    expect(lost).toMatchObject({
      status: 503,
      body: { success: false, towline: { reference: expect.stringMatching(/^tw-/) } },
    });
    const { reference } = lost.body['towline'] as { reference: string };

    proxy.down(false);
    const again = await until('Temporal to be back', async () => {
      const answer = await post(path, { ...bare, referenceId: reference });
      return answer.status !== 503 && answer;
    });
    expect(again).toMatchObject({ status: 202, body: { data: { referenceId: reference } } });
    const started = await tested.client.workflow.getHandle(`bank-checkout/${reference}`).describe();
    expect(started.taskQueue).toBe(tested.taskQueue);
    await tested.client.workflow.getHandle(`bank-checkout/${reference}`).terminate();
  });

  it('a reference that the caller gave is in every refusal, also of a body that is refused', async () => {
    const reference = newReference('given');
    const { path, body } = sample('createBankCheckout', reference);
    const { post } = callerOf(tested.url, 'any-token');
    expect(await post(path, { ...body, amount: 'much' })).toMatchObject({
      status: 400,
      body: { towline: { reference } },
    });
    proxy.down(true);
    expect(await post(path, body)).toMatchObject({ status: 503, body: { towline: { reference } } });
    proxy.down(false);
  });
});

describe('the token of the sandbox', () => {
  it('opens nothing on a gateway that listens beyond this machine', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('x') });
    const open = await gatewayUnderTest({
      env: {
        GATEWAY_HOST: '0.0.0.0',
        GATEWAY_TOKENS: 'shop:flows:secret-of-shop-00000000',
        PAYLOAD_KEYS: `test:${base64('0123456789abcdefghijklmnopqrstuv')}`,
        SETTLEMENT_SECRETS: `whsec_${base64('vutsrqponmlkjihgfedcba9876543210')}`,
      },
      gateway: { service: accessOf(client, DEVELOPMENT_SERVICE_TOKEN) },
    });
    const url = open.url.replace('0.0.0.0', '127.0.0.1');
    const answer = await callerOf(url, DEVELOPMENT_SERVICE_TOKEN).get(`${PATHS.send}/x`);
    await open.close();
    client.close();
    expect(answer.status).toBe(401);
  });
});
