import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import {
  bank,
  cancel,
  mobileMoney,
  accepted,
  ONCE,
  openInvoiceBench,
  parked,
  resolve,
  SOON,
  UNPAID,
  type InvoiceBench,
  type Started,
} from './invoice-payment-setup.js';

const KINDS = ['answer-lost', 'error-after', 'garbage'];

let b: InvoiceBench;
beforeAll(async () => {
  b = await openInvoiceBench();
});
afterAll(() => b.bench.close());
beforeEach(() => b.bench.control('DELETE', '/faults'));

const webhook = (word: string) => trusted(word, { source: 'webhook' });

async function parkedWithLostPayment(word: string, kind: string, ending?: string, more = {}): Promise<Started> {
  await b.fault('payInvoice', kind);
  const flow = await b.startPaid(word, ending, more);
  await flow.handle.signal('events', [webhook('PENDING')]);
  expect((await parked(flow)).parked?.reason).toBe('unknown_outcome');
  return flow;
}

describe('an invoice whose answer is lost', () => {
  test.each(KINDS)('is adopted by its inner invoice after %s, and paid once', async (kind) => {
    await b.fault('createInvoice', kind);
    const flow = await b.startPaid(`generate-${kind}`);
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('is adopted, and its own payment, which the service answered, ends the flow if it fails', async () => {
    await b.fault('createInvoice', 'answer-lost');
    const flow = await b.startPaid('generate-lost', 'failed');
    expect((await b.ended(flow)).outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test('parks as not_found_at_service if it never was; sent again by a person, it is generated once', async () => {
    await b.fault('createInvoice', 'reset-before');
    const flow = await b.startPaid('generate-never');
    expect((await parked(flow)).parked).toMatchObject({
      reason: 'not_found_at_service',
      actions: ['send-again', 'close-not-executed'],
    });
    expect(await b.executed(flow.reference)).toEqual({ generated: 0, paid: 0 });
    await resolve(flow, 'send-again');
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test.each(['same-result', 'conflict'])(
    'is never paid if the service has another amount under it (%s): it parks, and can be cancelled',
    async (repeatMode) => {
      await b.bench.control('POST', '/settings', { repeatMode });
      const reference = newReference('other-invoice');
      await b.bench.deps.service.createInvoice({ referenceId: reference, currency: 'KES', amount: 5, bank });
      const input = { referenceId: reference, currency: 'KES', amount: '6', bank, payment: { mobileMoney } };
      const flow = { reference, handle: await b.startFlow(reference, input) };
      const { parked: why } = await parked(flow);
      expect(why).toMatchObject({
        reason: 'duplicate_mismatch',
        evidence: { ours: { amount: '6' }, theirs: { amount: '5' } },
      });
      await (repeatMode === 'same-result' ? cancel(flow) : resolve(flow, 'close-not-executed'));
      expect((await b.ended(flow)).state).toBe(repeatMode === 'same-result' ? 'cancelled' : 'failed');
      expect(await b.executed(reference)).toEqual(UNPAID);
    },
  );
});

describe('an invoice payment whose answer is lost', () => {
  test.each(KINDS)('is adopted by a word beyond PENDING after %s', async (kind) => {
    await b.fault('payInvoice', kind);
    const flow = await b.startPaid(`pay-${kind}`);
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('is not proven by PENDING, neither looked up nor by an event: it parks, and is sent once more by a person', async () => {
    const flow = await parkedWithLostPayment('pay-never', 'reset-before');
    expect(await b.executed(flow.reference)).toEqual(UNPAID);
    await resolve(flow, 'send-again');
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('is looked up while it is parked: the customer may confirm it much later', async () => {
    const flow = await parkedWithLostPayment('pay-slowly', 'answer-lost', 'never');
    await b.move(flow.reference, 'SUCCESSFUL');
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('is proven by a trusted event beyond PENDING while it is parked', async () => {
    const flow = await parkedWithLostPayment('pay-proven', 'answer-lost', 'never');
    expect((await b.paid(flow)).state).toBe('completed');
  });

  test('is not ended by a failure, which may be of an attempt on its page: a person is asked at the deadline', async () => {
    const flow = await parkedWithLostPayment('pay-failed', 'answer-lost', 'never', SOON);
    await b.move(flow.reference, 'FAILED');
    await flow.handle.signal('events', [webhook('FAILED')]);
    const { view } = await untilFlow(flow.handle, (report) => report.view.parked?.reason === 'no_settlement');
    expect(view.parked?.evidence).toMatchObject({ words: expect.arrayContaining(['FAILED']) });
    await resolve(flow, 'mark-failed');
    expect((await b.ended(flow)).state).toBe('failed');
  });

  test('cannot be sent any more once a person closed it as not executed', async () => {
    const flow = await parkedWithLostPayment('pay-closed', 'reset-before');
    await resolve(flow, 'close-not-executed');
    expect((await b.ended(flow)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(await b.executed(flow.reference)).toEqual(UNPAID);
  });

  test('is at the service whatever word it shows, if the service calls the reference a duplicate', async () => {
    await b.fault('payInvoice', 'duplicate-answer');
    const flow = await b.startPaid('pay-duplicate', 'never');
    await accepted(flow);
    expect((await b.paid(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });
});
