import { describe, expect, it } from '@jest/globals';
import { until } from '../harness/until.js';
import type { Answer } from '../harness/service.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { type Stack, withStack } from '../end-to-end/stack.js';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [OLD, NEW, THEIRS] = [secretOf(21), secretOf(22), secretOf(23)];

describe.each([
  ['auto', ['standard-webhooks', 'raw-hmac', 'kotani']],
  ['standard-webhooks', ['standard-webhooks']],
  ['raw-hmac', ['raw-hmac']],
  ['json-hmac', ['kotani']],
])('with WEBHOOK_PROFILE=%s', (profile, senders) => {
  let stack: Stack;
  withStack({ env: { WEBHOOK_PROFILE: profile, WEBHOOK_SECRETS: `${NEW},${OLD}` } }, (opened) => (stack = opened));

  /** The result of a transfer whose end only the service's callbacks report. */
  const transfer = async (settings: Record<string, unknown>) => {
    const reference = newReference();
    const webhookUrl = stack.url + new URL(stack.gateway.inbound.webhook).pathname;
    await stack.control('POST', '/settings', { webhookUrl, ...settings });
    await stack.control('POST', '/scenarios', { reference, ending: 'statuses-by-callback-only' });
    await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.01 }));
    return reference;
  };
  const endOf = async (reference: string) =>
    (await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`)).body['state'];
  const rowsOf = (reference: string) => stack.store.inbox.list({ flowId: `bridge-transfer/${reference}` });

  it.each(senders)('a flow ends by an event that the sandbox signs as %s, with either live secret', async (sender) => {
    for (const secret of [OLD, NEW]) {
      const signing = { webhookProfile: sender, callbackSecret: secret, webhookSecret: secret };
      const reference = await transfer(signing);
      expect(await endOf(reference)).toBe('completed');
      const rows = await rowsOf(reference);
      expect(new Set(rows.map(({ proof }) => proof))).toEqual(new Set(['signature']));
      expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(['callback', 'webhook']));
    }
  });

  it('another secret is answered 401, and leaves nothing', async () => {
    const [sender] = senders;
    const signing = { webhookProfile: sender, callbackSecret: THEIRS, webhookSecret: THEIRS };
    const reference = await transfer(signing);
    const statuses = await until('refused deliveries of both streams', async () => {
      const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
      const tried = deliveries.filter(({ stream, attempts }: Answer) => stream !== 'settlement' && attempts.length > 0);
      const streams = new Set(tried.map(({ stream }: Answer) => stream));
      return (
        streams.size === 2 && tried.flatMap(({ attempts }: Answer) => attempts.map(({ status }: Answer) => status))
      );
    });
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await rowsOf(reference)).toEqual([]);
    // Corrected: the retries are signed again, and the flow ends after all.
    await stack.control('POST', '/settings', { callbackSecret: NEW, webhookSecret: NEW });
    expect(await endOf(reference)).toBe('completed');
  });

  it('an unsigned event is stored and not trusted, although the capability in its URL is right', async () => {
    const reference = await transfer({ callbackSecret: null, webhookSecret: null });
    await until('the last status', async () => {
      const rows = await rowsOf(reference);
      return rows.some(({ status, source }) => status === 'COMPLETED' && source === 'callback');
    });
    expect(new Set((await rowsOf(reference)).map((row) => row.proof))).toEqual(new Set([null]));
    const signing = { webhookProfile: senders[0], callbackSecret: NEW, webhookSecret: NEW };
    await stack.control('POST', '/settings', signing);
    // The service sends the same once more, with proof.
    const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
    for (const { id } of deliveries) await stack.control('POST', `/deliveries/${id}/resend`);
    expect(await endOf(reference)).toBe('completed');
  });
});

describe('with WEBHOOK_PROFILE=unsigned', () => {
  let stack: Stack;
  withStack({ env: { WEBHOOK_PROFILE: 'unsigned', WEBHOOK_SECRETS: NEW } }, (opened) => (stack = opened));

  it('a flow ends by bare events on its own URL, and no signature is checked', async () => {
    for (const callbackSecret of [null, THEIRS]) {
      const reference = newReference();
      await stack.control('POST', '/settings', { callbackSecret });
      await stack.control('POST', '/scenarios', { reference, ending: 'statuses-by-callback-only' });
      await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.01 }));
      const { body } = await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
      expect(body['state']).toBe('completed');
      const rows = await stack.store.inbox.list({ flowId: `bridge-transfer/${reference}` });
      expect(new Set(rows.map(({ proof }) => proof))).toEqual(new Set(['capability']));
    }
  });
});
