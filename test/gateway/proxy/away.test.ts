import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServiceClient, type ServiceClient } from '../../../src/client/index.js';
import { DEVELOPMENT_SERVICE_TOKEN } from '../../../src/config/settings.js';
import { closedPort } from '../../cli/run.js';
import { newReference } from '../../workflows/bench.js';
import { gatewayUnderTest, type GatewayUnderTest } from '../setup/gateway-under-test.js';
import { callerOf, invoiceBody, PATHS, paymentBody, QUOTE_BODY, sample } from './caller.js';

describe('where everything but Temporal is away', () => {
  let tested: GatewayUnderTest;
  let client: ServiceClient;
  beforeAll(async () => {
    client = createServiceClient({
      baseUrl: `http://127.0.0.1:${await closedPort()}`,
      token: () => Promise.resolve('any-token'),
    });
    tested = await gatewayUnderTest({
      env: { PROXY_TIMEOUT: '0.5' },
      gateway: { service: { client, token: () => Promise.resolve('any-token') } },
    });
  });
  afterAll(async () => {
    await tested.close();
    client.close();
  });
  const caller = () => callerOf(tested.url, 'any-token');
  const terminate = (flow: string) => tested.client.workflow.getHandle(flow).terminate();

  it('a money POST is taken all the same, once: it is in Temporal', async () => {
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

  it('an order to pay that no worker accepted is not said to be taken', async () => {
    const reference = newReference('order');
    expect((await caller().post(PATHS.invoice, invoiceBody(reference))).status).toBe(202);
    const answer = await caller().post(PATHS.pay, paymentBody(reference));
    expect(answer).toMatchObject({ status: 503, body: { success: false, data: { reference } } });
    expect(answer.headers.get('retry-after')).toBe('5');
    await terminate(`invoice-payment/${reference}`);
  });

  it('a quote and a read of what is no flow say that the service cannot be reached', async () => {
    expect((await caller().post(PATHS.quote, QUOTE_BODY)).status).toBe(503);
    expect(await caller().get(`${PATHS.send}/nobody-knows-it`)).toMatchObject({
      status: 503,
      body: { success: false, message: expect.stringContaining('cannot be reached') },
    });
  });
});

describe('where Temporal is away', () => {
  it('a money POST is not taken, and says so', async () => {
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('any-token') });
    const alone = await gatewayUnderTest({
      env: { PROXY_TIMEOUT: '0.5' },
      temporalAddress: '127.0.0.1:1',
      gateway: { service: { client, token: () => Promise.resolve('any-token') } },
    });
    const { path, body } = sample('sendCrypto', newReference('lost'));
    const answer = await callerOf(alone.url, 'any-token').post(path, body);
    await alone.close();
    client.close();
    expect(answer).toMatchObject({ status: 503, body: { success: false } });
  });
});

describe('the token of the sandbox', () => {
  it('opens nothing on a gateway that listens beyond this machine', async () => {
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve('x') });
    const open = await gatewayUnderTest({
      env: {
        GATEWAY_HOST: '0.0.0.0',
        GATEWAY_TOKENS: 'shop:flows:secret-of-shop',
        PAYLOAD_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      },
      gateway: { service: { client, token: () => Promise.resolve(DEVELOPMENT_SERVICE_TOKEN) } },
    });
    const url = open.url.replace('0.0.0.0', '127.0.0.1');
    const answer = await callerOf(url, DEVELOPMENT_SERVICE_TOKEN).get(`${PATHS.send}/x`);
    await open.close();
    client.close();
    expect(answer.status).toBe(401);
  });
});
