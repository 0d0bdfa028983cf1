import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import bankCheckout from '../kinds/bank-checkout.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { ended, inInbox, openDecisionBench, parked, TIME_SCALE } from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
const KINDS = { 'bank-checkout': bankCheckout, 'bank-withdrawal': bankWithdrawal } as const;

describe('a payment of 250.50 ZAR, by a proven event', () => {
  let d: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    d = await openDecisionBench(() => ({}));
  });
  afterEach(() => d.bench.terminateAll());
  afterAll(() => d.close());

  /** As the gateway signals what it received. */
  const reported = async (kind: keyof typeof KINDS, status: string, body: Record<string, unknown>) => {
    const reference = newReference('spelled');
    const input = { ...KINDS[kind].input(reference), amount: '250.50', currency: 'ZAR', ...LONG };
    const handle = await d.bench.startFlow(kind, reference, input);
    await untilFlow(handle, ({ view }) => view.stage !== 'submitting');
    const { id } = await inInbox(d, handle.workflowId, status, { body });
    const row = await d.store.inbox.get(id);
    await handle.signal('events', [eventOfRow(handle.workflowId, row!)]);
    return handle;
  };

  test.each([
    ['bank-checkout', 'successful', { amount: '+0250.500', currency: 'zar' }],
    ['bank-withdrawal', ' Successful ', { amount: '25050e-2', currency: ' ZAR' }],
    ['bank-withdrawal', 'SUCCESSFUL', { amount: 250.5, currency: 'Zar' }],
  ] as const)('completes, however its words are spelled: %s, "%s", %j', async (kind, status, body) => {
    expect(await ended(await reported(kind, status, body))).toMatchObject({ state: 'completed' });
  });

  test.each([
    ['an amount with a thousands separator', { amount: '250,50', currency: 'ZAR' }],
    ['a currency that is no code', { amount: '250.50', currency: 'R$' }],
    ['another amount in small digits', { amount: 2.505e-7, currency: 'ZAR' }],
  ])('is decided by a person if it has %s', async (_, body) => {
    const handle = await reported('bank-withdrawal', 'SUCCESSFUL', body);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await handle.terminate();
  });
});
