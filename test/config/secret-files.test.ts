import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followSecrets, readSettings } from '../../src/config/index.js';
import { createServiceClient } from '../../src/service-client/index.js';
import { answerJson, serveHttp } from '../service-client/scripted-server.js';
import { problemsOf, settingOf, settingsAtFault } from './settings-at-fault.js';
import { secretBytes } from '../harness/secrets.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towline-secrets-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** As an orchestrator does it: whole, in one step. */
async function put(name: string, text: string, mode = 0o400): Promise<string> {
  const path = join(folder, name);
  await writeFile(`${path}.draft`, text);
  await chmod(`${path}.draft`, mode);
  await rename(`${path}.draft`, path);
  return path;
}

const secretOf = (byte: number) => `whsec_${secretBytes(byte).toString('base64')}`;
const keyOf = (id: string) => `${id}:${secretBytes(1).toString('base64')}`;
const live = {
  SERVICE_BASE_URL: 'https://service.example',
  PUBLIC_URL: 'https://towline.example',
  PAYLOAD_KEYS: keyOf('k1'),
};
const TOKEN = 'ann:operator:secret-of-ann-00000000';

describe('secrets in files', () => {
  it('are read like the settings themselves, a list with an entry on each line', async () => {
    const settings = readSettings({
      SERVICE_BASE_URL: 'https://service.example',
      PUBLIC_URL: 'https://towline.example',
      SERVICE_TOKEN_FILE: await put('service', 'the-token\n'),
      GATEWAY_TOKENS_FILE: await put('tokens', `${TOKEN}\nbackend:flows:secret-of-the-backend-00\n`),
      WEBHOOK_SECRETS_FILE: await put('webhook', `${secretOf(1)},\n\n${secretOf(2)}\n`),
      SETTLEMENT_SECRETS_FILE: await put('settlement', secretOf(3)),
      CALLBACK_SECRETS_FILE: await put('callback', secretOf(4), 0o440),
      PAYLOAD_KEYS_FILE: await put('keys', `${keyOf('k2')}\r\n${keyOf('k1')}`),
      DATABASE_URL_FILE: await put('database', 'postgres://u:p@localhost/towline\n'),
      TEMPORAL_API_KEY_FILE: await put('temporal', 'api-key'),
    });
    expect(settings).toMatchObject({
      serviceToken: 'the-token',
      gatewayTokens: [{ name: 'ann' }, { name: 'backend' }],
      webhookSecrets: [secretOf(1), secretOf(2)],
      settlementSecrets: [secretOf(3)],
      callbackSecrets: [secretOf(4)],
      payloadKeys: `${keyOf('k2')},${keyOf('k1')}`,
      databaseUrl: 'postgres://u:p@localhost/towline',
      temporal: { TEMPORAL_API_KEY: 'api-key' },
    });
  });

  it.each([
    ['that others can read', 'hush-hush', 0o644, 'SERVICE_TOKEN_FILE'],
    ['that is empty', ' \n', 0o400, 'SERVICE_TOKEN_FILE'],
    ['that is no secret', 'x'.repeat(70_000), 0o400, 'SERVICE_TOKEN_FILE'],
    ['with two words', 'hush hush', 0o400, 'SERVICE_TOKEN'],
  ])('refuse one %s, without saying what is in it', async (_what, text, mode, name) => {
    const env = { SERVICE_TOKEN_FILE: await put('bad', text, mode) };
    expect(settingsAtFault(env)).toContain(name);
    expect(problemsOf(env).join()).not.toContain('hush');
  });

  it('are followed while a process runs; a broken one leaves the last good value, and is logged once', async () => {
    const path = await put('tokens-live', TOKEN);
    const settings = readSettings({ ...live, SERVICE_TOKEN: 'x', GATEWAY_TOKENS_FILE: path });
    const broken: string[] = [];
    let nowMs = 0;
    const { gatewayTokens, webhookSecrets } = followSecrets(settings, {
      onBroken: (problem) => broken.push(problem),
      monotonicMs: () => nowMs,
    });
    const names = (when?: 'now') => gatewayTokens(when).map(({ name }) => name);
    expect(names()).toEqual(['ann']);
    await put('tokens-live', 'bob:flows:secret-of-bob-000000000');
    expect(names()).toEqual(['ann']);
    expect(names('now')).toEqual(['bob']);
    await put('tokens-live', TOKEN);
    nowMs += 200;
    expect(names()).toEqual(['ann']);

    for (const text of ['bob:king:secret-of-bob-000000000', 'bob:flows:dev-token', '']) {
      await put('tokens-live', text);
      expect([names('now'), names('now')]).toEqual([['ann'], ['ann']]);
    }
    await rm(path);
    expect(names('now')).toEqual(['ann']);
    expect(broken).toHaveLength(4);
    expect(broken.join('\n')).not.toContain('secret-of-bob');
    await put('tokens-live', 'carl:flows:secret-of-carl-00000000');
    expect(names('now')).toEqual(['carl']);
    expect(webhookSecrets()).toEqual([]);
  });

  it('may say where people are notified, also later, if all of it can be sent signed', async () => {
    const urls = await put('urls', 'slack:https://hooks.example/one');
    const heartbeat = await put('heartbeat', 'https://ping.example/one');
    const capability = await put('capability', 'capability-one-of-22-x');
    const headers = await put('headers', 'authorization=one');
    const settings = readSettings({
      ...live,
      SERVICE_TOKEN: 'x',
      NOTIFY_URLS_FILE: urls,
      HEARTBEAT_URL_FILE: heartbeat,
      SETTLEMENT_CAPABILITY_FILE: capability,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: headers,
    });
    const broken: string[] = [];
    const followed = followSecrets(settings, { onBroken: (problem) => broken.push(problem), monotonicMs: () => 0 });
    await put('urls', 'slack:https://hooks.example/two\npagerduty:https://R0UT1NGKEY0123456789@pager.example/');
    await put('heartbeat', 'https://ping.example/two');
    await put('capability', 'capability-two-of-22-x');
    await put('headers', 'authorization=two');
    const urlsNow = () => followed.notifyTargets('now').map(({ url }) => url);
    expect(urlsNow()).toEqual(['https://hooks.example/two', 'https://pager.example/']);
    expect(followed.heartbeatUrl('now')).toBe('https://ping.example/two');
    expect(followed.settlementCapability('now')).toBe('capability-two-of-22-x');
    expect(followed.otlpHeaders('now')).toEqual({ authorization: 'two' });
    expect(broken).toEqual([]);

    await put('urls', 'https://unsigned.example/canary');
    await put('heartbeat', 'http://ping.example/canary');
    await put('capability', 'canary');
    expect(urlsNow()).toEqual(['https://hooks.example/two', 'https://pager.example/']);
    expect(followed.heartbeatUrl('now')).toBe('https://ping.example/two');
    expect(followed.settlementCapability('now')).toBe('capability-two-of-22-x');
    expect(broken.map(settingOf)).toEqual(['NOTIFY_URLS_FILE', 'HEARTBEAT_URL_FILE', 'SETTLEMENT_CAPABILITY_FILE']);
    expect(broken.join()).not.toContain('canary');
  });

  it('are refused as at the start if they are guessable, shared or reserved; the old ones count until a good one comes', async () => {
    const settlement = await put('settlement-live', secretOf(1));
    const callbacks = await put('callbacks-live', secretOf(2));
    const tokens = await put('tokens-checked', TOKEN);
    const settings = readSettings({
      ...live,
      SERVICE_TOKEN: 'x',
      SETTLEMENT_SECRETS_FILE: settlement,
      CALLBACK_SECRETS_FILE: callbacks,
      GATEWAY_TOKENS_FILE: tokens,
    });
    const broken: string[] = [];
    const followed = followSecrets(settings, { onBroken: (problem) => broken.push(problem), monotonicMs: () => 0 });
    const refused = ['service-token:admin:secret-of-nobody-000000', `${TOKEN}\nann:admin:other-secret-of-ann-000`];
    for (const text of [...refused, `bob:flows:${'a'.repeat(30)}`]) {
      await put('tokens-checked', text);
      expect(followed.gatewayTokens('now').map(({ name, role }) => `${name} ${role}`)).toEqual(['ann operator']);
    }
    await put('settlement-live', `whsec_${Buffer.alloc(32).toString('base64')}`);
    expect(followed.settlementSecrets('now')).toEqual([secretOf(1)]);
    // Two are exchanged, one file after the other.
    await put('settlement-live', secretOf(2));
    expect(followed.settlementSecrets('now')).toEqual([secretOf(1)]);
    expect(broken.map(settingOf)).toEqual([
      ...Array.from({ length: 3 }, () => 'GATEWAY_TOKENS_FILE'),
      ...Array.from({ length: 2 }, () => 'SETTLEMENT_SECRETS_FILE'),
    ]);
    await put('callbacks-live', secretOf(3));
    expect(followed.callbackSecrets('now')).toEqual([secretOf(3)]);
    expect(followed.settlementSecrets('now')).toEqual([secretOf(2)]);
    expect(broken).toHaveLength(5);
  });

  it('let calls work again after a 401, without sending the refused token twice', async () => {
    const path = await put('rotating', 'old');
    const settings = readSettings({ ...live, SERVICE_TOKEN_FILE: path });
    const { serviceToken } = followSecrets(settings, { onBroken: () => undefined, monotonicMs: () => 0 });
    const server = await serveHttp((response, _, { headers }) =>
      headers.authorization === 'Bearer new'
        ? answerJson(response, 200, { success: true, message: '', data: { status: 'APPROVED' } })
        : answerJson(response, 401, { success: false, message: 'token expired' }),
    );
    const client = createServiceClient({
      baseUrl: server.url,
      token: () => Promise.resolve(serviceToken()),
      onUnauthorized: () => Promise.resolve(void serviceToken('now')),
    });
    await put('rotating', 'new');
    await expect(client.getKycStatus('kyc-1')).rejects.toMatchObject({
      name: 'TurnedAwayError',
      reason: 'unauthorized',
    });
    expect(server.seen).toHaveLength(1);
    expect(await client.getKycStatus('kyc-1')).toEqual({ status: 'APPROVED' });
    client.close();
    await server.close();
  });
});
