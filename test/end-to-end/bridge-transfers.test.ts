import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { inTurns } from '../faults/in-turns.js';
import { signed } from '../gateway/setup/sign.js';
import { until } from '../harness/until.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { type Stack, withStack } from './stack.js';

const CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

/** What leaves a transfer no other way than a person's decision. */
const PARKS = new Set(['no-settlement-ever', 'mismatching-amount']);

describe('bridge transfers through gateway, worker and sandbox', () => {
  let stack: Stack;
  // Callbacks are signed here: a tampered copy would otherwise be as good as the capability that it came by.
  withStack(
    { drivenAlone: true, sandbox: { callbackSecret: CALLBACK_SECRET }, env: { WEBHOOK_SECRETS: CALLBACK_SECRET } },
    (opened) => (stack = opened),
  );

  const run = async (ending: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(ending);
    await stack.control('POST', '/scenarios', { reference, ending });
    if (PARKS.has(ending)) stack.expectParked(`bridge-transfer/${reference}`, `the scenario "${ending}"`);
    const started = await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.002, ...more }));
    expect(started.status).toBe(201);
    return reference;
  };
  const ended = async (reference: string) =>
    (await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=30`)).body;

  test.each([
    ['completed', 'completed', {}],
    ['statuses-by-callback-only', 'completed', {}],
    ['failed-then-refunded', 'refunded', {}],
    ['failed-no-refund', 'refunded', { refund: { auto: true } }],
    ['failed-early', 'failed', {}],
    ['rejected', 'failed', {}],
    ['rate-expired', 'completed', {}],
    ['no-settlement-ever', 'parked', {}],
    ['mismatching-amount', 'parked', {}],
  ])('a transfer that is "%s" at the service ends as %s', async (ending, state, more) => {
    const reference = await run(ending, more);
    expect((await ended(reference)).state).toBe(state);
  });

  test.each([
    ['answer-lost', 'completed', 'completed'],
    ['answer-lost', 'statuses-by-callback-only', 'completed'],
    ['answer-lost', 'failed-then-refunded', 'refunded'],
    ['answer-lost', 'failed-early', 'failed'],
    ['error-after', 'completed', 'completed'],
    ['rate-limited', 'completed', 'completed'],
  ])(
    'after the fault "%s", among doubled, early and tampered webhooks, one that is "%s" ends as %s',
    async (kind, ending, state) => {
      await stack.control('POST', '/adversary', { duplicate: 1, tampered: 1, early: 1 });
      const hint = kind === 'rate-limited' ? { hint: 'retry_after', retryAfterSeconds: 1 } : {};
      await stack.control('POST', '/faults', { operation: 'createBridgeDeposit', kind, first: 1, ...hint });
      const reference = await run(ending, { timeScale: 0.02 });
      expect((await ended(reference)).state).toBe(state);
      const { count } = await stack.control('GET', `/faults/log?reference=${reference}`);
      await stack.control('DELETE', '/faults');
      await stack.control('POST', '/adversary', {});
      expect(count).toBe(1);
      const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
      const notes = new Set((deliveries as { note: string }[]).map(({ note }) => note));
      expect([...notes].toSorted()).toEqual(['duplicate', 'genuine', 'tampered']);
    },
  );

  test('fault 24: the same callback 60 times, 20 at once: one row, one effect, at most one signal for it', async () => {
    const reference = await run('silent', { timeScale: 1 });
    await until(
      'the deposit',
      async () => (await stack.get(`/flows/bridge-transfer/${reference}`)).body['stage'] === 'tracking',
    );
    // What is about to be told is true.
    const url = `${stack.sandbox.url}/api/v3/deposit/crypto-bridge/webhook/provider/settlement`;
    await stack.control('POST', '/forge', { reference, status: 'COMPLETED', url });
    const path = stack.callbackPath(reference);
    const said = { provider_reference_id: reference, status: 'COMPLETED', amount: 1000.5, currency: 'KES' };
    const body = JSON.stringify(said);
    const send = () => stack.post(path, body, signed(CALLBACK_SECRET, body));
    const answers = await inTurns(numbers(60), 20, async () => (await send()).status);
    expect(answers.every((status) => status === 200)).toBe(true);
    expect((await ended(reference)).state).toBe('completed');
    const { body: listed } = await stack.get(`/flows/bridge-transfer/${reference}/events`);
    expect(listed['events']).toHaveLength(1);
    expect(listed['events'][0].repeats).toBe(59);
    const history = await stack.client.workflow.getHandle(`bridge-transfer/${reference}`).fetchHistory();
    const signals = history.events?.filter((event) => event.workflowExecutionSignaledEventAttributes) ?? [];
    expect(signals).toHaveLength(1);
  });

  test('I11: no token, secret, name, phone number or address of a person in the clear in histories, store or logs', async () => {
    const reference = await run('failed-then-refunded');
    await ended(reference);
    const history = await stack.client.workflow.getHandle(`bridge-transfer/${reference}`).fetchHistory();
    const files = (await readdir(stack.folder)).filter((name) => name.startsWith('store.db'));
    const stores = await Promise.all(
      files.map(async (name) => (await readFile(join(stack.folder, name))).toString('latin1')),
    );
    const witnesses = {
      history: Buffer.from(JSON.stringify(history)).toString() + decodedPayloads(history),
      store: stores.join(''),
      logs: [...stack.workerLog, ...stack.log.map((line) => JSON.stringify(line))].join('\n'),
    };
    const canaries = [
      SERVICE_TOKEN,
      '+27821234567',
      'Canary Recipient',
      '0x1111111111111111111111111111111111111111',
      'dev-token',
    ];
    const found = Object.entries(witnesses).flatMap(([where, text]) =>
      canaries.filter((canary) => text.includes(canary)).map((canary) => `${canary} in ${where}`),
    );
    expect(found).toEqual([]);
    expect(stores.join('').length).toBeGreaterThan(10_000);
    expect(witnesses.history).toContain('bridge-transfer');
  });
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Payload bytes as text, so that base64 hides nothing. */
function decodedPayloads(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (Array.isArray(value)) return value.map(decodedPayloads).join('\n');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(decodedPayloads).join('\n');
  return '';
}
