import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { secretBytes } from '../harness/secrets.js';
import { problemsOf, settingOf, settingsAtFault } from './settings-at-fault.js';

const key = `k1:${secretBytes(1).toString('base64')}`;
const live = {
  SERVICE_BASE_URL: 'https://service.example',
  SERVICE_TOKEN: 'a-live-token',
  PUBLIC_URL: 'https://towline.example',
  GATEWAY_HOST: '0.0.0.0',
  GATEWAY_TOKENS: 'backend:flows:secret-of-the-backend-00,ann:operator:secret-of-ann-00000000',
  PAYLOAD_KEYS: key,
};

describe('settings', () => {
  it('refuse the switch that has no certificate checked, outside of development', () => {
    expect(problemsOf({ ...live, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED=0 .*NODE_EXTRA_CA_CERTS/),
    ]);
    expect(problemsOf({ ...live, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
    expect(problemsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([]);
  });

  it('need nothing in development', () => {
    const settings = readSettings({});
    expect(settings).toMatchObject({
      development: true,
      serviceIsSandbox: true,
      serviceBaseUrl: 'http://127.0.0.1:8401',
      publicUrl: 'http://127.0.0.1:8400',
      gatewayTokens: [{ name: 'dev', role: 'admin', secret: 'dev-token' }],
      settlementTrust: 'corroborated',
      allowPlaintext: true,
      timeScale: 1,
      serviceTimeoutMs: 30_000,
      proxyTimeoutMs: 10_000,
    });
    expect(Object.values(settings.duplicateReference)).toContain('unknown');
  });

  it('are not of development if a public URL leads to this machine, and then accept no token by default', () => {
    const settings = readSettings({ PUBLIC_URL: 'https://towline.example', PAYLOAD_KEYS: key });
    expect(settings).toMatchObject({ development: false, allowPlaintext: false, gatewayTokens: [] });
    expect(readSettings({ PUBLIC_URL: 'http://localhost:8400' })).toMatchObject({ development: true });
  });

  it('take a live service with all that it needs, and are then no development', () => {
    const settings = readSettings(live);
    expect(settings).toMatchObject({ development: false, serviceIsSandbox: false, allowPlaintext: false });
    expect(settings.gatewayTokens.map(({ name, role }) => [name, role])).toEqual([
      ['backend', 'flows'],
      ['ann', 'operator'],
    ]);
  });

  it('need no token of the gateway if an issuer gives tokens', () => {
    const issuer = { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'towline' };
    expect(problemsOf({ ...live, GATEWAY_TOKENS: '', ...issuer })).toEqual([]);
  });

  it.each([
    [{ OIDC_ISSUER: 'issuer.example' }],
    [{ OIDC_ISSUER: 'http://issuer.example' }],
    [{ OIDC_ISSUER: 'https://issuer.example/?tenant=1' }],
    [{ OIDC_ISSUER: '' }],
    [{ OIDC_AUDIENCE: '' }],
    [{ OIDC_AUDIENCE: 'towline,,ui' }],
    [{ OIDC_NAME_CLAIM: 'a claim' }],
    [{ OIDC_NAME_CLAIM: 'email' }],
    [{ OIDC_NAME_CLAIM: 'Preferred_Username' }],
    [{ OIDC_ROLE_CLAIM: 'realm..roles' }],
    [{ OIDC_ROLES: 'oncall=operator,lead=king' }],
    [{ OIDC_ALGORITHMS: 'RS256,HS256' }],
    [{ FOUR_EYES: 'refund-now,send-agian' }],
    [{ FOUR_EYES: 'none,refund-now' }],
    [{ FOUR_EYES: 'markets-*' }],
    [{ FOUR_EYES_ABOVE: 'KES:lots' }],
  ])('of people who may order: %j has one problem, which names it', (env) => {
    const issuer = { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'towline' };
    expect(settingsAtFault({ ...live, ...issuer, ...env })).toEqual(Object.keys(env));
  });

  it('say every problem at once, each by the name of its setting, and never a secret', () => {
    const problems = problemsOf({
      SERVICE_BASE_URL: 'http://service.example',
      GATEWAY_HOST: '0.0.0.0',
      GATEWAY_PORT: '99999',
      GATEWAY_TOKENS: 'bob:king:hush-hush-hush',
      SETTLEMENT_SECRETS: 'tiny-secret',
      PAYLOAD_KEYS: 'k:not-a-key',
      TIME_SCALE: '0.5',
      DATABASE_URL: 'mysql://user:hush-password@db/towline',
      LOG_LEVEL: 'loud',
    });
    expect(problems.map(settingOf)).toEqual(
      expect.arrayContaining([
        'SERVICE_BASE_URL',
        'SERVICE_TOKEN',
        'PUBLIC_URL',
        'GATEWAY_PORT',
        'GATEWAY_TOKENS',
        'SETTLEMENT_SECRETS',
        'PAYLOAD_KEYS',
        'TIME_SCALE',
        'DATABASE_URL',
        'LOG_LEVEL',
      ]),
    );
    expect(problems.join('\n')).not.toMatch(/hush|tiny-secret|not-a-key/);
  });

  it.each([
    ['the development token beyond loopback', { ...live, GATEWAY_TOKENS: '' }, 'GATEWAY_TOKENS'],
    ['the same token given by name', { ...live, GATEWAY_TOKENS: 'dev:admin:dev-token' }, 'GATEWAY_TOKENS'],
    ['a secret that can be guessed', { ...live, GATEWAY_TOKENS: 'ann:operator:secret-of-ann' }, 'GATEWAY_TOKENS'],
    [
      'the token of development behind a proxy that makes it public',
      { PUBLIC_URL: 'https://towline.example', GATEWAY_TOKENS: 'dev:admin:dev-token', PAYLOAD_KEYS: key },
      'GATEWAY_TOKENS',
    ],
    [
      'a secret of few characters',
      { ...live, GATEWAY_TOKENS: `ann:operator:${'abcdefg'.repeat(6)}` },
      'GATEWAY_TOKENS',
    ],
    ['two places for the token', { SERVICE_TOKEN: 'a', SERVICE_TOKEN_FILE: 'b' }, 'SERVICE_TOKEN'],
    ['two places for the tokens', { GATEWAY_TOKENS: 'a', GATEWAY_TOKENS_FILE: 'b' }, 'GATEWAY_TOKENS'],
    ['a file of keys that is not there', { PAYLOAD_KEYS_FILE: '/none/keys' }, 'PAYLOAD_KEYS_FILE'],
    [
      'a service behind an address of this machine without keys',
      { SERVICE_BASE_URL: 'http://127.0.0.1:9000', SERVICE_TOKEN: 'live' },
      'PAYLOAD_KEYS',
    ],
    ['development with a live service', { ...live, DEVELOPMENT: 'true' }, 'DEVELOPMENT'],
    ['development behind a public URL', { PUBLIC_URL: 'https://t.example', DEVELOPMENT: 'true' }, 'DEVELOPMENT'],
    ...['', '?sslmode=require', '?sslmode=verify-full&sslmode=disable', '?host=db.example'].map(
      (query): [string, Record<string, string>, string] => [
        `a database elsewhere without verified TLS (${query || 'nothing said'})`,
        { DATABASE_URL: `postgres://u:p@${query.includes('host') ? 'localhost' : 'db.example'}/t${query}` },
        'DATABASE_URL',
      ],
    ),
    ...['p@ss/word', 'p@ss', '1#pass'].map((password): [string, Record<string, string>, string] => [
      `a database whose password is written as it is (${password})`,
      { DATABASE_URL: `postgres://u:${password}@localhost/t` },
      'DATABASE_URL',
    ]),
    ['trust by signature without a secret', { SETTLEMENT_TRUST: 'signed' }, 'SETTLEMENT_SECRETS'],
    ['trust by network without networks', { SETTLEMENT_TRUST: 'network' }, 'SETTLEMENT_NETWORKS'],
    ['a network that is everybody', { SETTLEMENT_NETWORKS: '0.0.0.0/0' }, 'SETTLEMENT_NETWORKS'],
    ...['::ffff:0:0/96', '::ffff:10.0.0.0/104', '::FFFF:a00:1', '::/64'].map(
      (cidr): [string, Record<string, string>, string] => [
        `a network of IPv6 that has addresses of IPv4 (${cidr})`,
        { TRUSTED_PROXIES: `10.0.0.7,${cidr}` },
        'TRUSTED_PROXIES',
      ],
    ),
    ['a short capability', { SETTLEMENT_CAPABILITY: 'abc' }, 'SETTLEMENT_CAPABILITY'],
    [
      'a rule for an operation that moves no money',
      { DUPLICATE_REFERENCE: 'getOfframp=rejected' },
      'DUPLICATE_REFERENCE',
    ],
    ['a user in a URL', { SERVICE_BASE_URL: 'https://me:hush@service.example' }, 'SERVICE_BASE_URL'],
  ])('refuse %s, by its name', (_what, env, name) => {
    expect(settingsAtFault(env)).toContain(name);
  });

  it('accept a database of this machine, one with verified TLS, and another one when the setting allows it', () => {
    for (const url of [
      'postgres://u:p@127.0.0.1/t',
      'postgres://u:p@[::1]:5432/t',
      'postgres://u:p@db.example/t?host=/run/postgresql',
      'postgres://u:p@db.example/t?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    ]) {
      expect(problemsOf({ DATABASE_URL: url })).toEqual([]);
    }
    expect(problemsOf({ DATABASE_URL: 'postgres://u:p@db.example/t', DATABASE_TLS: 'unverified' })).toEqual([]);
  });

  it('are those of development only with DEVELOPMENT=true, even with a service on this machine', () => {
    const sidecar = { SERVICE_BASE_URL: 'http://127.0.0.1:9000', SERVICE_TOKEN: 'live', PAYLOAD_KEYS: key };
    expect(readSettings(sidecar)).toMatchObject({ development: false, gatewayTokens: [], allowPlaintext: false });
    expect(readSettings({ ...sidecar, DEVELOPMENT: 'true' })).toMatchObject({
      development: true,
      allowPlaintext: true,
    });
    expect(readSettings({ DEVELOPMENT: 'false', PAYLOAD_KEYS: key })).toMatchObject({ development: false });
  });

  it('read rules for repeated references by operation', () => {
    const { duplicateReference } = readSettings({
      DUPLICATE_REFERENCE: 'createBridgeDeposit=same-result, sendCrypto=rejected',
    });
    expect(duplicateReference).toMatchObject({
      createBridgeDeposit: 'same-result',
      sendCrypto: 'rejected',
      createOfframp: 'unknown',
    });
  });

  it('know networks, also of IPv4 addresses in IPv6 clothes', () => {
    const { settlementNetworks } = readSettings({ SETTLEMENT_NETWORKS: '203.0.113.0/24, 2001:db8::/32' });
    const seen = ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', '203.0.114.9', '::1', 'nonsense'];
    expect(seen.map((address) => settlementNetworks?.includes(address))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
