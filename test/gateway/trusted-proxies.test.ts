import { describe, expect, it } from '@jest/globals';
import { explainProxies } from '../../src/cli/doctor/check-gateway.js';
import { readSettings } from '../../src/config/index.js';
import { networkOf } from '../../src/gateway/http/rate-limit.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement } from '../harness/inputs.js';
import { secretBytes } from '../harness/secrets.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const PROVIDER = '203.0.113.7';
const SOMEBODY = '198.51.100.9';

/** What proves a settlement that comes through this machine, with this `X-Forwarded-For`. */
async function proofOf(env: Record<string, string>, forwardedFor: string): Promise<string | null | undefined> {
  const tested = await gatewayUnderTest({
    temporalAddress: '127.0.0.1:1',
    env: { SETTLEMENT_NETWORKS: PROVIDER, ...env },
  });
  const headers = { 'x-forwarded-for': forwardedFor };
  const answer = await tested.post(SETTLEMENT_PATH, settlement(newReference(), 'COMPLETED'), headers);
  const [row] = await tested.store.inbox.list({});
  await tested.close();
  expect(answer.status).toBe(200);
  return row?.proof;
}

describe('the address in X-Forwarded-For', () => {
  it('is not believed if no proxy is trusted, nor from a sender who is not one', async () => {
    expect(await proofOf({}, PROVIDER)).toBeNull();
    expect(await proofOf({ TRUSTED_PROXIES: '10.0.0.0/8' }, PROVIDER)).toBeNull();
  });

  it('is believed of a trusted proxy, as far as that proxy has seen it itself', async () => {
    expect(await proofOf({ TRUSTED_PROXIES: '127.0.0.0/8,::1' }, PROVIDER)).toBe('network');
    expect(await proofOf({ TRUSTED_PROXIES: '127.0.0.1' }, `${PROVIDER}, ${SOMEBODY}`)).toBeNull();
    expect(await proofOf({ TRUSTED_PROXIES: `127.0.0.1,${SOMEBODY}` }, `${PROVIDER}, ${SOMEBODY}`)).toBe('network');
    expect(await proofOf({ TRUSTED_PROXIES: '127.0.0.1' }, 'nonsense, 999.1.1.1')).toBeNull();
    expect(await proofOf({ TRUSTED_PROXIES: '127.0.0.1' }, `${PROVIDER}:50123`)).toBe('network');
  });

  it('is one address, whichever ports a proxy reports with it', () => {
    expect(networkOf('203.0.113.7:50123')).toBe('203.0.113.7');
    expect(networkOf('[2001:db8:1:2::9]:50123')).toBe('2001:db8:1:2::/64');
    expect(networkOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64');
  });

  it('gives each sender behind a trusted proxy a limit of its own, which it cannot shed by naming others', async () => {
    const env = { UNPROVEN_RATE_LIMIT: '1', TRUSTED_PROXIES: '127.0.0.1' };
    const gateway = { monotonicMs: () => 0 };
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env, gateway });
    const send = async (address: string, n: number) => {
      const headers = { 'x-forwarded-for': `192.0.2.${n}, ${address}` };
      return (await tested.post(SETTLEMENT_PATH, settlement(newReference(), 'FAILED', { n }), headers)).status;
    };
    const flood = await Promise.all(Array.from({ length: 40 }, (_, n) => send(SOMEBODY, n)));
    const other = await send(PROVIDER, 1);
    await tested.close();
    // Ten seconds' worth, and no more.
    expect(flood.filter((status) => status === 200)).toHaveLength(10);
    expect(flood.filter((status) => status === 429)).toHaveLength(30);
    expect(other).toBe(200);
  });
});

describe('the doctor', () => {
  const production = {
    SERVICE_BASE_URL: 'https://service.example',
    SERVICE_TOKEN: 'a-token',
    PUBLIC_URL: 'https://towline.example',
    PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
  };
  const found = (env: Record<string, string>) =>
    explainProxies(readSettings({ ...production, ...env })).map(({ verdict, code }) => [verdict, code]);

  it('notes that TRUSTED_PROXIES is not set when PUBLIC_URL is https, outside of development', () => {
    expect(found({})).toEqual([['note', 'not-set']]);
    expect(found({ TRUSTED_PROXIES: '10.0.0.1' })).toEqual([['good', 'ok']]);
    expect(explainProxies(readSettings({}))).toEqual([]);
  });
});
