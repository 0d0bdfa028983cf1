import { describe, expect, it } from '@jest/globals';
import { readSettings, SettingsError } from '../../src/config/index.js';
import { secretBytes } from '../harness/secrets.js';

const base64 = (number: number) => secretBytes(number).toString('base64');
const whsec = (number: number) => `whsec_${base64(number)}`;
/** Settings of a live service, all as they should be. */
const LIVE = {
  SERVICE_BASE_URL: 'https://service.example',
  SERVICE_TOKEN: 'token-of-the-service',
  PUBLIC_URL: 'https://towline.example',
  PAYLOAD_KEYS: `k1:${base64(1)}`,
  GATEWAY_TOKENS: 'backend:flows:0a1b2c3d4e5f60718293a4b5',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
};

function problemsOf(more: Readonly<Record<string, string>>): readonly string[] {
  try {
    readSettings({ ...LIVE, ...more });
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}
/** The settings that a problem names first. */
const namesOf = (problems: readonly string[]) => problems.map((problem) => /^[A-Z_]+/.exec(problem)?.[0]);

describe('settings outside of development', () => {
  it('are taken if nothing is wrong with them, without doubts', () => {
    expect(readSettings(LIVE)).toMatchObject({ development: false, doubts: [] });
  });

  it.each([
    ['a payload key of zeros', { PAYLOAD_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }, 'PAYLOAD_KEYS'],
    [
      'a later payload key of zeros',
      { PAYLOAD_KEYS: `${LIVE.PAYLOAD_KEYS},k0:${Buffer.alloc(32).toString('base64')}` },
      'PAYLOAD_KEYS',
    ],
    ['a webhook secret of one letter', { WEBHOOK_SECRETS: 'a'.repeat(40) }, 'WEBHOOK_SECRETS'],
    [
      'a settlement secret of zeros',
      { SETTLEMENT_SECRETS: `whsec_${Buffer.alloc(24).toString('base64')}` },
      'SETTLEMENT_SECRETS',
    ],
    ['a settlement capability of two letters', { SETTLEMENT_CAPABILITY: 'ab'.repeat(12) }, 'SETTLEMENT_CAPABILITY'],
    [
      'a callback secret of one byte again and again',
      { CALLBACK_SECRETS: `whsec_${Buffer.alloc(24, 7).toString('base64')}` },
      'CALLBACK_SECRETS',
    ],
    ['a token of a few characters', { GATEWAY_TOKENS: `backend:flows:${'abcdefg'.repeat(4)}` }, 'GATEWAY_TOKENS'],
    ['one secret for two purposes', { SETTLEMENT_SECRETS: whsec(5), CALLBACK_SECRETS: whsec(5) }, 'SETTLEMENT_SECRETS'],
    ['the service’s token as a gateway token', { SERVICE_TOKEN: '0a1b2c3d4e5f60718293a4b5' }, 'SERVICE_TOKEN'],
    [
      'a token with the name of the service token',
      { GATEWAY_TOKENS: 'service-token:flows:0a1b2c3d4e5f60718293a4b5' },
      'GATEWAY_TOKENS',
    ],
    [
      'one name with two roles',
      { GATEWAY_TOKENS: `${LIVE.GATEWAY_TOKENS},backend:admin:5f60718293a4b50a1b2c3d4e` },
      'GATEWAY_TOKENS',
    ],
    ['a PUBLIC_URL on this machine for a service elsewhere', { PUBLIC_URL: 'http://127.0.0.1:8404' }, 'PUBLIC_URL'],
    [
      'secrets that the profile takes no notice of',
      { WEBHOOK_PROFILE: 'unsigned', WEBHOOK_SECRETS: whsec(2) },
      'WEBHOOK_PROFILE',
    ],
    [
      'settlements from half of all addresses',
      { SETTLEMENT_NETWORKS: '0.0.0.0/1,128.0.0.0/1', TRUSTED_PROXIES: '10.0.0.7' },
      'SETTLEMENT_NETWORKS',
    ],
    ['settlements from a good part of IPv6', { SETTLEMENT_NETWORKS: '2000::/3' }, 'SETTLEMENT_NETWORKS'],
    ['proxies at half of all addresses', { TRUSTED_PROXIES: '128.0.0.0/1' }, 'TRUSTED_PROXIES'],
    [
      'settlements from this machine, where a proxy may be',
      { SETTLEMENT_NETWORKS: '127.0.0.0/8' },
      'SETTLEMENT_NETWORKS',
    ],
    [
      'settlements by their network, with TLS ended in front of it by a proxy that nobody names',
      { SETTLEMENT_NETWORKS: '203.0.113.0/24' },
      'SETTLEMENT_NETWORKS',
    ],
    [
      'settlements from a network that has the proxy',
      { SETTLEMENT_NETWORKS: '10.0.0.0/8', TRUSTED_PROXIES: '10.1.2.0/24' },
      'SETTLEMENT_NETWORKS',
    ],
    [
      'settlements from an address among those of proxies',
      { SETTLEMENT_NETWORKS: '203.0.113.7,10.1.2.3', TRUSTED_PROXIES: '10.1.2.0/24' },
      'SETTLEMENT_NETWORKS',
    ],
    ['a webhook secret of a few bytes', { WEBHOOK_SECRETS: 'whsec_abababababab' }, 'WEBHOOK_SECRETS'],
    ['a settlement secret of nine random bytes', { SETTLEMENT_SECRETS: 'whsec_q83vASNFZ4mr' }, 'SETTLEMENT_SECRETS'],
    ...['towline', 'service', 'provider', 'deadline', 'temporal'].map(
      (name) =>
        [
          `a token with the name ${name}, of a machine`,
          { GATEWAY_TOKENS: `${name}:flows:0a1b2c3d4e5f60718293a4b5` },
          'GATEWAY_TOKENS',
        ] as const,
    ),
    [
      'roles by the words of a claim that other applications have, too',
      { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'towline', OIDC_ROLE_CLAIM: 'realm_access.roles' },
      'OIDC_ROLES',
    ],
    [
      'headers for a collector without TLS',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x' },
      'OTEL_EXPORTER_OTLP_HEADERS',
    ],
  ])('are refused with %s, by the name of the setting', (_what, more, name) => {
    expect(namesOf(problemsOf(more))).toEqual([name]);
  });

  it.each([
    [
      'a name with two secrets of one role, for rotation',
      { GATEWAY_TOKENS: `${LIVE.GATEWAY_TOKENS},backend:flows:5f60718293a4b50a1b2c3d4e` },
    ],
    [
      'settlements from this machine, with the proxy named',
      { SETTLEMENT_NETWORKS: '127.0.0.0/8', TRUSTED_PROXIES: '10.0.0.7' },
    ],
    [
      'networks of a provider, and the proxy named',
      { SETTLEMENT_NETWORKS: '203.0.113.0/24,2001:db8::/32', TRUSTED_PROXIES: '10.0.0.7' },
    ],
    [
      'words of a claim with the role of each',
      {
        OIDC_ISSUER: 'https://issuer.example',
        OIDC_AUDIENCE: 'towline',
        OIDC_ROLE_CLAIM: 'realm_access.roles',
        OIDC_ROLES: 'towline-admin=admin',
      },
    ],
    ['a claim of our own', { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'towline' }],
    [
      'headers for a collector on this machine',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x' },
    ],
  ])('are taken with %s', (_what, more) => {
    expect(problemsOf(more)).toEqual([]);
  });

  it('are doubtful, and taken, if Temporal is on another machine without TLS', () => {
    const doubtsOf = (more: Readonly<Record<string, string>>) => namesOf(readSettings({ ...LIVE, ...more }).doubts);
    expect(doubtsOf({ TEMPORAL_ADDRESS: 'temporal.example:7233' })).toEqual(['TEMPORAL_ADDRESS']);
    expect(doubtsOf({ TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_API_KEY: 'key' })).toEqual([]);
    expect(
      doubtsOf({ TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: 'false' }),
    ).toEqual(['TEMPORAL_ADDRESS']);
  });

  it.each([
    ['ALLOW_PLAINTEXT', 'true'],
    ['CALLBACK_ALLOW_LOOPBACK', 'true'],
    ['FOUR_EYES', 'none'],
    ['UNPROVEN_RATE_LIMIT', '0'],
    ['WEBHOOK_PROFILE', 'unsigned'],
  ])('are doubtful, and taken, with %s=%s', (name, value) => {
    expect(namesOf(readSettings({ ...LIVE, [name]: value }).doubts)).toEqual([name]);
  });

  it('name variables that look like a setting and are none, but not what Kubernetes sets', () => {
    const { doubts } = readSettings({
      ...LIVE,
      WEBHOOK_SECRET: 'x',
      GATEWAY_TOKEN_FILE: '/nowhere',
      TOWLINE_GATEWAY_SERVICE_HOST: '10.0.0.1',
      TOWLINE_GATEWAY_PORT: 'tcp://10.0.0.1:8400',
      MY_WEBHOOK_SECRET: 'x',
    });
    expect(doubts).toEqual([expect.stringContaining('GATEWAY_TOKEN_FILE, WEBHOOK_SECRET')]);
  });
});

describe('settings of development', () => {
  it('take guessable secrets, and name variables that look like a setting and are none', () => {
    const { development, doubts } = readSettings({ WEBHOOK_SECRETS: 'a'.repeat(40), GATEWAY_PROT: '1' });
    expect({ development, doubts }).toEqual({ development: true, doubts: [expect.stringContaining('GATEWAY_PROT')] });
  });
});
