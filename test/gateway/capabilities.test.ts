import { afterEach, describe, expect, it } from '@jest/globals';
import { withoutOwnCallbacks } from '../../src/gateway/flows/address.js';
import { PATTERNS, withoutCallbackCapabilities, withoutCapabilities } from '../../src/protocol/capabilities.js';
import { callbackCapability } from '../../src/flows/capability.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { sentBy } from './setup/hmac-mutants.js';

const SECRET = `whsec_${Buffer.alloc(32, 40).toString('base64')}`;

let tested: GatewayUnderTest;
afterEach(() => tested.close());
const open = async (env: Record<string, string>) => {
  tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env });
};
const proofOf = async (path: string, reference: string, headers: Record<string, string> = {}, body?: string) => {
  const sent = body ?? JSON.stringify({ reference_id: reference, status: 'PAYMENT_SENT' });
  expect((await tested.post(path, sent, { authorization: '', ...headers })).status).toBe(200);
  return (await tested.store.inbox.list({ limit: 1 }))[0]?.proof;
};

describe('the capability in a URL, which ends up in the logs of proxies,', () => {
  it('proves an event if the service has no secret to sign with', async () => {
    await open({});
    const reference = newReference();
    expect(await proofOf(tested.callbackPath(reference), reference)).toBe('capability');
    expect(await proofOf(new URL(tested.gateway.inbound.webhook).pathname, newReference())).toBe('capability');
  });

  it('proves nothing by itself once there are secrets: the event is kept, and a signed one is trusted', async () => {
    await open({ WEBHOOK_SECRETS: SECRET });
    const reference = newReference();
    expect(await proofOf(tested.callbackPath(reference), reference)).toBeNull();
    const webhook = new URL(tested.gateway.inbound.webhook).pathname;
    expect(await proofOf(webhook, newReference())).toBeNull();
    const { body, headers } = sentBy('standard-webhooks', SECRET, {});
    expect(await proofOf(webhook, reference, headers as Record<string, string>, body)).toBe('signature');
  });

  it('proves only callbacks if the settings say that the service does not sign these', async () => {
    await open({ WEBHOOK_SECRETS: SECRET, SERVICE_SIGNS_CALLBACKS: 'false' });
    const reference = newReference();
    expect(await proofOf(tested.callbackPath(reference), reference)).toBe('capability');
    expect(await proofOf(new URL(tested.gateway.inbound.webhook).pathname, newReference())).toBeNull();
  });

  it('ends with its epoch, unless that is named still', async () => {
    await open({ CAPABILITY_EPOCHS: '3,2' });
    const flowId = `bridge-transfer/${newReference()}`;
    const statuses = [];
    for (const epoch of [1, 2, 3, 4]) {
      const path = `/callbacks/${flowId}/${callbackCapability(tested.store, flowId, epoch)}`;
      statuses.push((await tested.post(path, { status: 'PAYMENT_SENT', epoch })).status);
    }
    expect(statuses).toEqual([404, 200, 200, 404]);
    const before = new URL(tested.gateway.inbound.webhook).pathname;
    await tested.close();
    await open({ CAPABILITY_EPOCHS: '4' });
    expect(new URL(tested.gateway.inbound.webhook).pathname).not.toBe(before);
  });

  it('is searched in steps of bounded length, whatever a caller wrote', () => {
    for (const { source } of PATTERNS) expect(source).not.toMatch(/[*+]|\{\d+,\}/);
  });

  it('is found however its URL is written, and nothing is taken for one that only looks like it', async () => {
    await open({});
    const flowId = 'bank-checkout/order-1';
    const capability = callbackCapability(tested.store, flowId);
    const url = `https://pay.example/callbacks/${flowId}/${capability}`;
    const written = (slash: string, text = url) => text.replaceAll('/', () => slash);
    const texts = [
      url,
      url.toUpperCase(),
      `${encodeURIComponent(encodeURIComponent(url))}&more=1`,
      ...['&#x2F;', '&#47;', '&sol;', '\\/', '\\x2F', '\\u002F', '%u002F', '%252F', '//'].map((slash) =>
        written(slash),
      ),
      `Cannot POST /${capability}`,
      JSON.stringify({ path: `order-1/${capability}`, alone: capability }),
    ];
    for (const text of texts) {
      const bytes = Buffer.from(text);
      for (const without of [withoutCapabilities(text), Buffer.from(withoutCallbackCapabilities(bytes)).toString()])
        expect(without.toLowerCase()).not.toContain(capability.slice(0, 20));
    }
    const others = `0x${'2f'.repeat(32)} ${'ab'.repeat(20)} ${'f'.repeat(42)} ${'f'.repeat(44)} ${newReference()} %2Fabc`;
    expect(withoutCapabilities(others)).toBe(others);
    const webhook = tested.gateway.inbound.webhook;
    expect(Buffer.from(withoutCallbackCapabilities(Buffer.from(webhook))).toString()).toBe(webhook);
    expect(withoutCapabilities(`https://pay.example/settlements/${'Zz-9'.repeat(8)}`)).toMatch(
      /\/settlements\/\(secret\)$/,
    );
  });

  it('is in no answer, whichever side repeats it', async () => {
    await open({});
    const reference = newReference();
    const path = tested.callbackPath(reference);
    const url = `https://gateway.example${path}`;
    const redirect = `https://pay.example/?to=${encodeURIComponent(url)}&again=${encodeURIComponent(encodeURIComponent(url))}`;
    const note = `called ${url.replaceAll('/', '\\/')} twice`;
    const said = { status: 'PAYMENT_SENT', callback_url: url, redirect, note };
    expect(JSON.stringify(withoutOwnCallbacks({ to: redirect.slice(0, redirect.indexOf('&')), url }))).not.toMatch(
      /[0-9a-f]{43}/,
    );
    await tested.post(path, said);
    const [row] = await tested.store.inbox.list({ limit: 1 });
    const shown = JSON.stringify((await tested.get(`/events/${row?.id}`)).body);
    expect(shown).toContain('PAYMENT_SENT');
    expect(shown).toContain('twice');
    expect(shown).not.toContain(path.slice(path.lastIndexOf('/') + 1));
    const webhook = tested.gateway.inbound.webhook;
    await tested.post(path, { status: 'PAYMENT_SENT', webhook });
    const [other] = await tested.store.inbox.list({ limit: 1 });
    const body = JSON.stringify((await tested.get(`/events/${other?.id}`)).body);
    expect(body).not.toContain(webhook.slice(webhook.lastIndexOf('/') + 1));
  });
});
