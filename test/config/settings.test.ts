import { describe, expect, it } from '@jest/globals';
import { readSettings, SettingsError } from '../../src/config/index.js';
import { secretBytes } from '../harness/secrets.js';

const key = `k1:${secretBytes(1).toString('base64')}`;
const live = {
  SERVICE_BASE_URL: 'https://service.example',
  SERVICE_TOKEN: 'a-live-token',
  PUBLIC_URL: 'https://towline.example',
  GATEWAY_HOST: '0.0.0.0',
  GATEWAY_TOKENS: 'backend:flows:secret-of-the-backend-00,ann:operator:secret-of-ann-00000000',
  PAYLOAD_KEYS: key,
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe('settings', () => {
  it('refuse the switch that has no certificate checked, outside of development', () => {
    expect(problemsOf({ ...live, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED=0 is refused .* NODE_EXTRA_CA_CERTS/),
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
    [{ OIDC_ISSUER: 'issuer.example' }, /^OIDC_ISSUER must be an https URL/],
    [{ OIDC_ISSUER: 'http://issuer.example' }, /^OIDC_ISSUER must begin with https/],
    [{ OIDC_ISSUER: 'https://issuer.example/?tenant=1' }, /^OIDC_ISSUER must not have a query/],
    [{ OIDC_ISSUER: '' }, /^OIDC_ISSUER is missing/],
    [{ OIDC_AUDIENCE: '' }, /^OIDC_AUDIENCE is missing/],
    [{ OIDC_AUDIENCE: 'towline,,ui' }, /^OIDC_AUDIENCE must be comma-separated names/],
    [{ OIDC_NAME_CLAIM: 'a claim' }, /^OIDC_NAME_CLAIM must be a claim/],
    [{ OIDC_ROLE_CLAIM: 'realm..roles' }, /^OIDC_ROLE_CLAIM must be a claim/],
    [{ OIDC_ROLES: 'oncall=operator,lead=king' }, /^OIDC_ROLES must be .* viewer, flows, operator, admin, .* entry 2/],
    [{ OIDC_ALGORITHMS: 'RS256,HS256' }, /^OIDC_ALGORITHMS must be of RS256/],
    [{ FOUR_EYES: 'refund-now,send-agian' }, /^FOUR_EYES must be "none" or actions of .*send-again.* entry 2 is not/],
    [{ FOUR_EYES: 'none,refund-now' }, /^FOUR_EYES must be .* entry 1 is not/],
    [{ FOUR_EYES: 'markets-*' }, /^FOUR_EYES must be .* entry 1 is not/],
    [{ FOUR_EYES_ABOVE: 'KES:lots' }, /^FOUR_EYES_ABOVE has no decimal number above zero/],
  ])('of people who may order: %j has one problem, which says what to do', (env, sentence) => {
    const issuer = { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'towline' };
    expect(problemsOf({ ...live, ...issuer, ...env })).toEqual([expect.stringMatching(sentence)]);
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
    for (const name of [
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
    ]) {
      expect(problems.some((problem) => problem.startsWith(name))).toBe(true);
    }
    expect(problems.join('\n')).not.toMatch(/hush|tiny-secret|not-a-key/);
  });

  it.each([
    ['the development token beyond loopback', { ...live, GATEWAY_TOKENS: '' }, /GATEWAY_TOKENS is missing/],
    ['the same token given by name', { ...live, GATEWAY_TOKENS: 'dev:admin:dev-token' }, /token of development/],
    [
      'a secret that can be guessed',
      { ...live, GATEWAY_TOKENS: 'ann:operator:secret-of-ann' },
      /GATEWAY_TOKENS has a secret of fewer than 22 characters/,
    ],
    [
      'the token of development behind a proxy that makes it public',
      { PUBLIC_URL: 'https://towline.example', GATEWAY_TOKENS: 'dev:admin:dev-token', PAYLOAD_KEYS: key },
      /token of development/,
    ],
    [
      'a secret of few characters',
      { ...live, GATEWAY_TOKENS: `ann:operator:${'abcdefg'.repeat(6)}` },
      /a few characters that repeat/,
    ],
    ['two places for the token', { SERVICE_TOKEN: 'a', SERVICE_TOKEN_FILE: 'b' }, /both set/],
    ['two places for the tokens', { GATEWAY_TOKENS: 'a', GATEWAY_TOKENS_FILE: 'b' }, /both set/],
    ['a file of keys that is not there', { PAYLOAD_KEYS_FILE: '/none/keys' }, /PAYLOAD_KEYS_FILE: .*ENOENT/],
    [
      'a service behind an address of this machine without keys',
      { SERVICE_BASE_URL: 'http://127.0.0.1:9000', SERVICE_TOKEN: 'live' },
      /PAYLOAD_KEYS is missing.* DEVELOPMENT=true/,
    ],
    ['development with a live service', { ...live, DEVELOPMENT: 'true' }, /DEVELOPMENT=true is refused/],
    ['development behind a public URL', { PUBLIC_URL: 'https://t.example', DEVELOPMENT: 'true' }, /=true is refused/],
    ...['', '?sslmode=require', '?sslmode=verify-full&sslmode=disable', '?host=db.example'].map(
      (query): [string, Record<string, string>, RegExp] => [
        `a database elsewhere without verified TLS (${query || 'nothing said'})`,
        { DATABASE_URL: `postgres://u:p@${query.includes('host') ? 'localhost' : 'db.example'}/t${query}` },
        /DATABASE_URL must have sslmode=verify-full/,
      ],
    ),
    ['trust by signature without a secret', { SETTLEMENT_TRUST: 'signed' }, /SETTLEMENT_SECRETS is missing/],
    ['trust by network without networks', { SETTLEMENT_TRUST: 'network' }, /SETTLEMENT_NETWORKS is missing/],
    ['a network that is everybody', { SETTLEMENT_NETWORKS: '0.0.0.0/0' }, /SETTLEMENT_NETWORKS must be/],
    ['a short capability', { SETTLEMENT_CAPABILITY: 'abc' }, /SETTLEMENT_CAPABILITY must be/],
    [
      'a rule for an operation that moves no money',
      { DUPLICATE_REFERENCE: 'getOfframp=rejected' },
      /DUPLICATE_REFERENCE/,
    ],
    ['a user in a URL', { SERVICE_BASE_URL: 'https://me:hush@service.example' }, /must not carry/],
  ])('refuse %s', (_what, env, sentence) => {
    expect(problemsOf(env as Record<string, string>).join('\n')).toMatch(sentence);
  });

  it('take a database of this machine, one that proves who it is, and another one if that is said', () => {
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

  it('are those of development only if DEVELOPMENT says so, even with a service on this machine', () => {
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
