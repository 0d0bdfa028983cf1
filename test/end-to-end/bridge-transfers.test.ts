import { describe, expect, test } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { type Stack, withStack } from './stack.js';

const CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

/** What leaves a transfer no other way than a person's decision. */
const PARKS = new Set(['no-settlement-ever', 'mismatching-amount', 'failed-refund-begun', 'rate-expired']);

describe('bridge transfers through gateway, worker and sandbox', () => {
  let stack: Stack;
  // Callbacks are signed here: otherwise a tampered copy would be as trusted as the capability of its URL.
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
    (await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`)).body;

  test.each([
    ['completed', 'completed', {}],
    ['statuses-by-callback-only', 'completed', {}],
    ['failed-then-refunded', 'refunded', {}],
    ['failed-no-refund', 'refunded', { refund: { auto: true } }],
    ['failed-refund-begun', 'parked', { refund: { auto: true } }],
    ['failed-early', 'failed', {}],
    ['rejected', 'failed', {}],
    ['rate-expired', 'parked', {}],
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
});
