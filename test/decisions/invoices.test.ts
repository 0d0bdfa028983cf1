import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { RejectedError, ServiceUnavailableError, type ServiceClient } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { InvoicePayment } from '../../src/contract/invoice.js';
import { ended, inInbox, noted, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';
import { newReference } from '../harness/references.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

/** The answer of the payment's lookup; undefined: the sandbox's. */
let answer: (() => Promise<InvoicePayment>) | undefined;

const refused = (httpStatus: number) => () =>
  Promise.reject<InvoicePayment>(
    new RejectedError('getInvoicePayment', { httpStatus, fields: [], isRateExpired: false, isAboutReference: false }),
  );
/** The service cannot say what the invoice is about. */
let isUnreadable = false;
const record = (status: string, amount: string, currency: string) => () =>
  Promise.resolve({ referenceId: 'r', status, amount, currency } as InvoicePayment);

/** The service shows nothing in so many lookups, and then that the customer has paid. */
const missingBefore = (misses: number) => () => {
  misses -= 1;
  if (misses === 0) answer = record('SUCCESSFUL', '1000.5', 'KES');
  const about = { httpStatus: 404, message: 'Not found', fields: [], isRateExpired: false };
  const notFound = { ...about, isAboutReference: false, saysNoRecord: true };
  return Promise.reject<InvoicePayment>(new RejectedError('getInvoicePayment', notFound));
};

const bank = { accountName: 'Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' };
const mobileMoney = { accountName: 'Payer', phoneNumber: '+254712345678', providerNetwork: 'MPESA' };

describe('an invoice that may or may not have been paid', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service: ServiceClient) => ({
      getInvoice: (reference) =>
        isUnreadable
          ? Promise.reject(new ServiceUnavailableError('getInvoice', 'http-status', 500))
          : service.getInvoice(reference),
      getInvoicePayment: (reference) => (answer === undefined ? service.getInvoicePayment(reference) : answer()),
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = async (word: string, more: Record<string, unknown>) => {
    const reference = newReference(word);
    const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, timeScale: TIME_SCALE, ...more };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    return { reference, handle };
  };

  /** Lets its deadline come, without waiting for it. */
  const parkedAfter = async (handle: WorkflowHandle, deadlineSeconds: number) => {
    await decisions.bench.pass(deadlineSeconds * 1_000 * TIME_SCALE);
    return parked(handle);
  };

  test.each([403, 400, 404, 422])(
    'a lookup that answers %i is no "not paid": it parks at its deadline',
    async (status) => {
      answer = refused(status);
      const { handle } = await start('unclear', { deadlineSeconds: 200 });
      const view = await parkedAfter(handle, 200);
      expect(view.parked).toMatchObject({
        reason: 'payment_unclear',
        actions: ['keep-waiting', 'mark-completed', 'close-not-executed'],
      });
      // Asking went on: the customer had paid on the invoice's own page.
      answer = record('SUCCESSFUL', '1000.5', 'KES');
      expect(await ended(handle)).toMatchObject({ state: 'completed' });
    },
  );

  test('is not paid while its lookup is refused, and is paid once the service reports it as unpaid', async () => {
    answer = refused(403);
    const { reference, handle } = await start('refused', { payment: { mobileMoney }, deadlineSeconds: 360_000 });
    await noted(handle, 'invoice-payable');
    await decisions.bench.pass(200);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    answer = undefined;
    await noted(handle, 'accepted', '', 2);
    expect(await decisions.executions('payInvoice', reference)).toBe(1);
    await handle.terminate();
  });

  test('is not paid by itself past its deadline, though the service reports it at last as unpaid', async () => {
    answer = refused(403);
    const { reference, handle } = await start('too-late', { payment: { mobileMoney }, deadlineSeconds: 60_000 });
    expect((await parkedAfter(handle, 60_000)).parked?.reason).toBe('payment_unclear');
    answer = undefined;
    expect(await ended(handle)).toMatchObject({ state: 'expired', outcome: { reason: 'deadline_passed' } });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('is not paid again if its payment is found before the settle window is over: a copy may lag', async () => {
    answer = missingBefore(6);
    const { reference, handle } = await start('lagging', { payment: { mobileMoney }, deadlineSeconds: 360_000 });
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('is not paid again after an outage that lasts for the settle window, and a copy that lags after it', async () => {
    answer = () => Promise.reject(new ServiceUnavailableError('getInvoicePayment', 'http-status', 503));
    const { reference, handle } = await start('outage', { payment: { mobileMoney }, deadlineSeconds: 360_000 });
    await noted(handle, 'invoice-payable');
    await decisions.bench.pass(150_000 * TIME_SCALE);
    answer = missingBefore(7);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('is not paid again when a trusted event reports "paid" and the lookup still finds PENDING', async () => {
    answer = undefined;
    const { reference, handle } = await start('told', { deadlineSeconds: 400 });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-payment');
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    const paying = handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
    const view = await parkedAfter(handle, 400);
    expect(view.parked?.reason).toBe('payment_unclear');
    expect(await paying).toMatchObject({ kind: 'none', reason: 'payment_unclear' });
    await resolve(handle, 'mark-completed');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('is not completed by a record of another amount or currency', async () => {
    for (const [amount, currency] of [
      ['10', 'UGX'],
      ['999', 'KES'],
    ] as const) {
      answer = record('SUCCESSFUL', amount, currency);
      const { handle } = await start('other', { deadlineSeconds: 200 });
      const view = await parkedAfter(handle, 200);
      expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { theirs: { paidAmount: amount } } });
      await resolve(handle, 'mark-failed');
      await ended(handle);
    }
  });

  test('that we paid is not ended as failed by a person against a trusted event, while the service cannot be asked', async () => {
    answer = undefined;
    const { handle } = await start('proven', { payment: { mobileMoney }, deadlineSeconds: 400 });
    await noted(handle, 'accepted', '', 2);
    answer = refused(403);
    expect((await parkedAfter(handle, 800)).parked?.reason).toBe('no_settlement');
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL');
    await expect(resolve(handle, 'mark-failed')).rejects.toMatchObject({
      cause: { type: 'proven_otherwise' },
    });
    answer = record('SUCCESSFUL', '1000.5', 'KES');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test.each([
    ['the service shows it as paid', record('SUCCESSFUL', '1000.5', 'KES'), 'completed'],
    ['the service cannot say', refused(403), undefined],
  ] as const)('is not cancelled where %s', async (_, answers, state) => {
    answer = undefined;
    const { handle } = await start('cancelled', { deadlineSeconds: 360_000 });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-payment');
    answer = answers;
    await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    if (state === undefined) {
      answer = undefined;
      expect(await handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).toEqual({ cancelled: true });
    }
    expect(await ended(handle)).toMatchObject({ state: state ?? 'cancelled' });
  });

  test('that could not be read by its deadline is asked for its payment before it expires', async () => {
    answer = record('SUCCESSFUL', '1000.5', 'KES');
    isUnreadable = true;
    const { handle } = await start('unreadable', { deadlineSeconds: 400 });
    await decisions.bench.pass(400 * 1_000 * TIME_SCALE);
    // What was paid is ours only if the invoice is.
    expect((await parkedAfter(handle, 0)).parked?.reason).toBe('conflict');
    isUnreadable = false;
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('parks with both amounts if a trusted event reports another amount, and does not expire', async () => {
    answer = undefined;
    const { handle } = await start('another', { deadlineSeconds: 400 });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-payment');
    await handle.signal('events', [
      trusted('SUCCESSFUL', { source: 'webhook', facts: { paidAmount: '7', paidCurrency: 'KES' } }),
    ]);
    const view = await parkedAfter(handle, 400);
    expect(view.parked?.reason).toBe('event_mismatch');
    await handle.terminate();
  });

  /** A trusted webhook about another payment of it is in the inbox, and never reached the flow. */
  const anotherInInbox = (flowId: string, reference: string) => {
    const data = { reference_id: reference, status: 'SUCCESSFUL', amount: 998.5, currency: 'KES' };
    const said = { flowId, reference, status: 'SUCCESSFUL', body: { event: 'payment.confirmed', data } };
    const received = { id: randomUUID(), source: 'webhook', proof: 'signature', contentHash: randomUUID() } as const;
    return decisions.store.inbox.receive({ ...received, ...said });
  };
  const ANOTHER = { reason: 'event_mismatch', evidence: { theirs: { amount: '998.5' }, ours: { amount: '1000.5' } } };

  test.each([
    ['waits for its payment', false],
    ['could not be read', true],
  ])('that %s does not expire against another payment in its inbox: it parks with both sides', async (_, hidden) => {
    answer = undefined;
    isUnreadable = hidden;
    const { reference, handle } = await start('inbox', { deadlineSeconds: 2_000 });
    await noted(handle, hidden ? 'accepted' : 'awaiting-payment');
    await anotherInInbox(handle.workflowId, reference);
    const view = await parkedAfter(handle, 2_000);
    isUnreadable = false;
    expect(view.parked).toMatchObject(ANOTHER);
    await handle.terminate();
  });

  test('does not expire while its inbox cannot be read for minutes: a payment that was begun is in it', async () => {
    answer = undefined;
    const { claims } = decisions.store;
    const { handle } = await start('unread', { timeScale: 1, deadlineSeconds: 3_600 });
    await noted(handle, 'awaiting-payment');
    const away = jest.spyOn(claims, 'voidAll').mockRejectedValue(new StoreUnavailableError('AWAY', 'database'));
    await decisions.bench.pass(3_600_000 + 240_000);
    expect(away).toHaveBeenCalled();
    away.mockRestore();
    await inInbox(decisions, handle.workflowId, 'PROCESSING');
    await decisions.bench.pass(1_200_000);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'payment_unclear' });
    answer = record('SUCCESSFUL', '1000.5', 'KES');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('is not cancelled against another payment in its inbox: it parks with both sides', async () => {
    answer = undefined;
    const { reference, handle } = await start('inbox-cancel', { deadlineSeconds: 360_000 });
    await noted(handle, 'awaiting-payment');
    await anotherInInbox(handle.workflowId, reference);
    await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    expect((await parked(handle)).parked).toMatchObject(ANOTHER);
    await handle.terminate();
  });

  test('is not closed as not executed against a trusted event that came while a person was asked', async () => {
    answer = refused(403);
    const { handle } = await start('told-parked', { deadlineSeconds: 200 });
    await parkedAfter(handle, 200);
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    await expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    expect((await parked(handle)).parked?.evidence).toMatchObject({ reported: ['SUCCESSFUL'] });
    answer = record('SUCCESSFUL', '1000.5', 'KES');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('is not closed as not executed against another payment that lies in its inbox', async () => {
    answer = refused(403);
    const { reference, handle } = await start('other-parked', { deadlineSeconds: 200 });
    await parkedAfter(handle, 200);
    await anotherInInbox(handle.workflowId, reference);
    await expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
    expect(view.parked).toMatchObject(ANOTHER);
    await handle.terminate();
  });

  test('keeps waiting if an attempt to pay it failed, by an event or a lookup: the next one may succeed', async () => {
    answer = record('FAILED', '1000.5', 'KES');
    const { handle } = await start('attempts', { deadlineSeconds: 360_000 });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-payment');
    await handle.signal('events', [trusted('FAILED', { source: 'webhook' })]);
    await noted(handle, 'event-applied', 'FAILED');
    await handle.signal('events', [trusted('PROCESSING', { source: 'webhook' })]);
    await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    answer = record('PROCESSING', '1000.5', 'KES');
    await noted(handle, 'paid-elsewhere');
    const paying = handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
    await expect(paying).rejects.toMatchObject({ cause: { type: 'paid_by_another_way' } });
    answer = record('FAILED', '1000.5', 'KES');
    answer = record('SUCCESSFUL', '1000.5', 'KES');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('is not paid by us if an attempt failed, and ours cannot be distinguished from it: it expires unpaid', async () => {
    answer = record('FAILED', '1000.5', 'KES');
    const { reference, handle } = await start('failed-before', { payment: { mobileMoney }, deadlineSeconds: 200 });
    await decisions.bench.pass(200 * 1_000 * TIME_SCALE);
    expect(await ended(handle)).toMatchObject({ state: 'expired', outcome: { reason: 'deadline_passed' } });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('has its deadline put off only by a person, however long a decision takes', async () => {
    answer = refused(403);
    const { handle } = await start('unheard', { deadlineSeconds: 3_600, timeScale: 0.0001 });
    const { deadlineAt } = await parked(handle);
    // Longer than one query takes.
    await decisions.bench.pass(400_000);
    expect(await parked(handle)).toMatchObject({ deadlineAt });
    await resolve(handle, 'keep-waiting');
    await untilFlow(handle, ({ view }) => view.deadlineAt !== deadlineAt);
    await handle.terminate();
  });

  test('expires when the service reports it as unpaid', async () => {
    answer = undefined;
    const { handle } = await start('unpaid', { deadlineSeconds: 200 });
    await decisions.bench.pass(200 * 1_000 * TIME_SCALE);
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
  });
});
