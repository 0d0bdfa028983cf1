import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { keptSecretsPath, writeKeptSecrets } from '../../src/config/index.js';
import { signed } from './setup/sign.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [OLD, NEW, OTHER] = [secretOf(1), secretOf(2), secretOf(3)];
const HOUR_MS = 3_600_000;

describe('a running gateway, while the webhook secret is rotated', () => {
  let gateway: GatewayUnderTest;
  let path: string;
  let nowMs: number;
  let sent = 0;
  beforeEach(async () => {
    nowMs = Date.now();
    gateway = await gatewayUnderTest({ env: { WEBHOOK_SECRETS: OLD }, gateway: { nowMs: () => nowMs } });
    path = keptSecretsPath(gateway.settings.towlineHome);
  });
  afterEach(() => gateway.close());

  /** What the gateway answers to an account webhook that is signed with this secret now. */
  const deliver = async (secret: string) => {
    sent += 1;
    const body = JSON.stringify({ event: 'system.event', data: { number: sent } });
    const to = new URL(gateway.gateway.inbound.webhook).pathname;
    return (await gateway.post(to, body, signed(secret, body, { atMs: nowMs }))).status;
  };
  const answers = () => Promise.all([OLD, NEW, OTHER].map(deliver));
  const inHours = (hours: number) => new Date(nowMs + hours * HOUR_MS).toISOString();

  it('takes the new secret with the very next event, the old one until its end, and no other', async () => {
    expect(await answers()).toEqual([200, 401, 401]);
    writeKeptSecrets(path, [{ secret: NEW, until: null }]);
    expect(await answers()).toEqual([200, 200, 401]);
    writeKeptSecrets(path, [
      { secret: NEW, until: null },
      { secret: OLD, until: inHours(2) },
    ]);
    expect(await answers()).toEqual([200, 200, 401]);
    nowMs += 2 * HOUR_MS;
    // It is still in WEBHOOK_SECRETS.
    expect(await answers()).toEqual([401, 200, 401]);
  });

  it('continues with the last good secrets if the file cannot be used, and logs it without them', async () => {
    writeKeptSecrets(path, [{ secret: NEW, until: null }]);
    expect(await deliver(NEW)).toBe(200);
    await writeFile(path, `{"secrets": [{"secret": "${OTHER}"`);
    expect(await answers()).toEqual([200, 200, 401]);
    writeKeptSecrets(path, [{ secret: OTHER, until: null }]);
    await chmod(path, 0o644);
    expect(await answers()).toEqual([200, 200, 401]);
    expect(gateway.log.filter(({ level }) => level === 50).length).toBeGreaterThan(0);
    for (const secret of [OLD, NEW, OTHER]) expect(JSON.stringify(gateway.log)).not.toContain(secret);
  });

  it('does not start on a file that others can read', async () => {
    writeKeptSecrets(path, [{ secret: NEW, until: null }]);
    await chmod(path, 0o644);
    const start = gatewayUnderTest({ gateway: { settings: gateway.settings } });
    await expect(start).rejects.toMatchObject({ name: 'KeptSecretsError' });
  });
});

describe('a gateway whose only webhook secret has expired', () => {
  it('keeps what is not signed as unproven: the service could have signed it', async () => {
    const home = await mkdtemp(join(tmpdir(), 'towline-home-'));
    writeKeptSecrets(keptSecretsPath(home), [{ secret: OLD, until: '2026-01-01T00:00:00.000Z' }]);
    const gateway = await gatewayUnderTest({ env: { TOWLINE_HOME: home, WEBHOOK_SECRETS: OLD } });
    const body = JSON.stringify({ event: 'system.event', status: 'SETTLING' });
    const webhook = new URL(gateway.gateway.inbound.webhook).pathname;
    expect((await gateway.post(webhook, body)).status).toBe(200);
    expect((await gateway.post(webhook, body, signed(OLD, body))).status).toBe(401);
    expect((await gateway.store.inbox.list({ limit: 9 })).map(({ proof }) => proof)).toEqual([null]);
    await gateway.close();
    await rm(home, { recursive: true });
  });
});

describe('a gateway without the webhook secret that another one has', () => {
  it('believes no event that is not signed, and takes none that is, until the settings say that nothing is signed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-shared-'));
    const open = (env: Record<string, string>) =>
      gatewayUnderTest({
        storePath: join(folder, 'store.db'),
        env,
        gateway: { nowMs: Date.now, monotonicMs: () => (ms += 2_000) },
      });
    let ms = 0;
    let sent = 0;
    const deliver = async (to: GatewayUnderTest, secret?: string) => {
      const body = JSON.stringify({ event: 'system.event', status: 'SETTLING', sent: (sent += 1) });
      const webhook = new URL(to.gateway.inbound.webhook).pathname;
      const { status } = await to.post(webhook, body, secret === undefined ? {} : signed(secret, body));
      return [status, (await to.store.inbox.list({ limit: 1 }))[0]?.proof ?? null];
    };
    const second = await open({});
    expect(await deliver(second)).toEqual([200, 'capability']);
    const first = await open({ WEBHOOK_SECRETS: OLD });
    expect(await deliver(first, OLD)).toEqual([200, 'signature']);
    expect(await deliver(second)).toEqual([200, null]);
    expect((await deliver(second, OLD))[0]).toBe(401);
    expect(second.log.map(({ code }) => code)).toContain('webhook_secrets_missing');
    await first.close();
    const later = await open({});
    expect(await deliver(later)).toEqual([200, null]);
    const unsigned = await open({ WEBHOOK_PROFILE: 'unsigned' });
    expect(await deliver(unsigned)).toEqual([200, 'capability']);
    await Promise.all([second, later, unsigned].map((one) => one.close()));
    await rm(folder, { recursive: true });
  });
});

describe('a running gateway, while the files of its secrets are replaced', () => {
  it('takes the new ones with the very next event, and the earlier ones no longer', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-secrets-'));
    const put = async (name: string, text: string) => {
      const path = join(folder, name);
      await writeFile(`${path}.draft`, text, { mode: 0o400 });
      await rename(`${path}.draft`, path);
      return path;
    };
    const [before, after] = ['b'.repeat(22), 'a'.repeat(22)];
    const env = {
      WEBHOOK_SECRETS_FILE: await put('webhooks', OLD),
      SETTLEMENT_SECRETS: '',
      SETTLEMENT_SECRETS_FILE: await put('settlements', OTHER),
      SETTLEMENT_CAPABILITY_FILE: await put('capability', before),
      UNPROVEN_RATE_LIMIT: '1000',
    };
    // Its clock stands still: a file is read again only because an event would be refused.
    const gateway = await gatewayUnderTest({ env, gateway: { monotonicMs: () => 0 } });
    let sent = 0;
    const post = async (path: string, secret?: string) => {
      sent += 1;
      const body = JSON.stringify({ event: 'system.event', provider_reference_id: `r-${sent}`, status: 'SETTLING' });
      return (await gateway.post(path, body, secret === undefined ? {} : signed(secret, body))).status;
    };
    const webhook = new URL(gateway.gateway.inbound.webhook).pathname;
    const answers = async (secrets: readonly [string, string], capability: string) => [
      await post(webhook, secrets[0]),
      await post(reportSettlement.path, secrets[1]),
      await post(`/settlements/${capability}`),
    ];
    expect(await answers([OLD, OTHER], before)).toEqual([200, 200, 200]);
    expect(await answers([NEW, NEW], after)).toEqual([401, 401, 404]);
    await put('webhooks', NEW);
    await put('settlements', NEW);
    await put('capability', after);
    expect(await answers([NEW, NEW], after)).toEqual([200, 200, 200]);
    expect(await answers([OLD, OTHER], before)).toEqual([401, 401, 404]);
    await gateway.close();
    await rm(folder, { recursive: true });
  });

  it('does not look at the file of its tokens for guesses past their limit, from a known address either', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-tokens-'));
    const path = join(folder, 'tokens');
    const secretOf = (name: string) => `secret-of-${name}-0123456789`;
    const put = async (...names: readonly string[]) => {
      const text = names.map((name) => `${name}:admin:${secretOf(name)}`).join('\n');
      await writeFile(`${path}.draft`, text, { mode: 0o400 });
      await rename(`${path}.draft`, path);
    };
    await put('ann');
    let monotonicMs = 0;
    const gateway = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { GATEWAY_TOKENS_FILE: path, UNPROVEN_RATE_LIMIT: '1' },
      gateway: { monotonicMs: () => monotonicMs },
    });
    const statusOf = async (name: string) => {
      const headers = { authorization: `Bearer ${secretOf(name)}` };
      return (await fetch(`${gateway.url}/whoami`, { headers })).status;
    };
    expect(await statusOf('ann')).toBe(200);
    for (let guess = 0; guess < 100; guess += 1) expect(await statusOf('eve')).toBe(401);
    // The clock stands still: the file is read again only because a token would be refused.
    await put('ann', 'bea');
    expect([await statusOf('bea'), await statusOf('ann')]).toEqual([429, 200]);
    monotonicMs = 100;
    expect(await statusOf('bea')).toBe(200);
    await gateway.close();
    await rm(folder, { recursive: true });
  });
});
