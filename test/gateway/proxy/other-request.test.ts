import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withTimeScale } from '../../../src/gateway/flows/start.js';
import { callerOf, sample } from './caller.js';
import { gatewayUnderTest, type GatewayUnderTest } from '../setup/gateway-under-test.js';
import { newReference } from '../../harness/references.js';

describe('the proxy, while no worker runs,', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    const relay = () => Promise.reject(new Error('no read is made here'));
    const service = { client: { relay }, token: () => Promise.resolve('any-token'), lookUp: relay };
    tested = await gatewayUnderTest({ env: { PROXY_TIMEOUT: '0.5' }, gateway: { service } });
  });
  afterAll(() => tested.close());

  it('a repeated request of other content is refused, and the same one taken as before', async () => {
    const reference = newReference('other');
    const { path, body } = sample('sendCrypto', reference);
    const post = (sent: object) => callerOf(tested.url, 'any-token').post(path, sent);
    expect(await post(body)).toMatchObject({ status: 202 });
    expect(await post({ ...body, cryptoAmount: 13.5 })).toMatchObject({
      status: 409,
      body: {
        success: false,
        towline: { reference, code: 'other_request' },
      },
    });
    expect(await post(body)).toMatchObject({ status: 202 });
    await tested.client.workflow.getHandle(`crypto-send/${reference}`).terminate();
  });

  it('waits of another length are refused unless the service is on this machine', () => {
    const scaled = (serviceBaseUrl: string, timeScale: number) =>
      withTimeScale({ settings: { ...tested.settings, serviceBaseUrl, timeScale: 1 } } as never, { timeScale });
    expect(() => scaled('https://service.example', 0.5)).toThrow(expect.objectContaining({ status: 400 }));
    expect(scaled('https://service.example', 1)).toEqual({ timeScale: 1 });
    expect(scaled('http://127.0.0.1:8401', 0.5)).toEqual({ timeScale: 0.5 });
  });
});
