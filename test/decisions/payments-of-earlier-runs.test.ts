import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import { ACCOUNT } from '../harness/fixed.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, noted, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

const HOUR_MS = 3_600_000;

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
beforeAll(async () => {
  decisions = await openDecisionBench(() => ({
    payInvoice: () => Promise.reject(new UnknownOutcomeError('payInvoice', 'timeout')),
  }));
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const start = async (reference: string, deadlineSeconds: number): Promise<WorkflowHandle> => {
  const money = { currency: 'KES', amount: '1000.50', bank };
  const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds };
  const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
  await noted(handle, 'awaiting-payment');
  return handle;
};
const keyOf = (reference: string) => ({ account: ACCOUNT, operation: 'payInvoice', reference });
/** Of an earlier run of the flow, which was ordered to pay. */
const reserve = (reference: string) =>
  decisions.store.claims.reserve(keyOf(reference), {
    owner: 'earlier',
    flowId: `invoice-payment/${reference}`,
    fingerprint: 'f',
  });
const codeOf = (order: Promise<unknown>): Promise<unknown> =>
  order.then(
    () => 'carried out',
    ({ cause }: { readonly cause?: { readonly type?: string } }) => cause?.type,
  );

describe('an invoice whose payment an earlier run was ordered to make', () => {
  test.each(['sending', 'answered'] as const)(
    'is asked about, once it turns out that it was sent after this run had read its claims: %s',
    async (phase) => {
      const reference = newReference('late');
      const handle = await start(reference, 36_000);
      const { claims } = decisions.store;
      await reserve(reference);
      await claims.markSending(keyOf(reference), 'earlier');
      if (phase === 'answered') await claims.recordAnswer(keyOf(reference), { id: 'x', status: 'PENDING' });
      expect(await codeOf(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] }))).toBe('money_may_have_moved');
      await decisions.bench.pass(100 * HOUR_MS * TIME_SCALE);
      expect((await parked(handle)).parked?.actions).toContain('mark-completed');
    },
  );

  test('and that the service turned away is not cancelled, is not paid by itself, and can be closed by a person', async () => {
    const reference = newReference('turned');
    const { claims } = decisions.store;
    await reserve(reference);
    await claims.markSending(keyOf(reference), 'earlier');
    await claims.turnAway(keyOf(reference), 'earlier');
    const handle = await start(reference, 36_000);
    expect(await codeOf(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] }))).toBe('payment_unclear');
    await decisions.bench.pass(100 * HOUR_MS * TIME_SCALE);
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test.each([0, 185])(
    'parks at its deadline while the order to pay waits for its answer, after %i signals',
    async (signals) => {
      const reference = newReference('long');
      const handle = await start(reference, 360_000);
      const order = codeOf(handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] }));
      await noted(handle, 'outcome-unknown');
      for (let sent = 0; sent < signals; sent += 1) await handle.signal('events', []);
      await decisions.bench.pass(200 * HOUR_MS * TIME_SCALE);
      await untilFlow(handle, ({ view }) => view.parked !== null);
      expect(await order).toBe('carried out');
    },
  );
});
