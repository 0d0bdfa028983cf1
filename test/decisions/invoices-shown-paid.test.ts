import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { trusted } from '../harness/inputs.js';
import {
  ended,
  entriesOf,
  gate,
  inInbox,
  noted,
  openDecisionBench,
  parked,
  READING_MS,
  resolve,
  stoppable,
  TIME_SCALE,
} from './bench.js';

const HOUR_MS = 3_600_000;
/** It is sent, and not answered. */
let isLost = false;
/** How often the lookup is still to show what the customer has paid on the invoice's page, before an older copy answers. */
let timesShown = 0;
/** What else the payment's lookup waits for. */
let held: Promise<unknown> | undefined;
let isHeld = false;
/** Lookups that the service refuses: of the invoice, of its payment. */
let isRefused = { invoice: false, payment: false };
const refusal = { httpStatus: 403, fields: [], isRateExpired: false, isAboutReference: false };

describe('an invoice that the lookup has once shown as paid', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let money: ReturnType<typeof stoppable>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async payInvoice(body, options) {
        if (isLost) throw new UnknownOutcomeError('payInvoice', 'timeout');
        return service.payInvoice(body, options);
      },
      async getInvoicePayment(referenceId) {
        if (timesShown > 0) {
          timesShown -= 1;
          return { referenceId, status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' };
        }
        if (held !== undefined) isHeld = true;
        await held;
        if (isRefused.payment) throw new RejectedError('getInvoicePayment', refusal);
        return { referenceId, status: 'PENDING', amount: '1000.5', currency: 'KES' };
      },
      async getInvoice(referenceId) {
        if (isRefused.invoice) throw new RejectedError('getInvoice', refusal);
        return service.getInvoice(referenceId);
      },
    }));
    money = stoppable(decisions, 'payInvoice');
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());
  afterEach(() => {
    jest.restoreAllMocks();
    [isLost, isRefused] = [false, { invoice: false, payment: false }];
  });

  const start = async (word: string, more: Record<string, unknown>) => {
    money.stop();
    [timesShown, held] = [0, undefined];
    const reference = newReference(word);
    const owed = { currency: 'KES', amount: '1000.50', bank };
    const input = { referenceId: reference, ...owed, timeScale: TIME_SCALE, deadlineSeconds: 1_800_000, ...more };
    return { reference, handle: await decisions.bench.startFlow('invoice-payment', reference, input) };
  };
  const waiting = async (word: string) => {
    const { reference, handle } = await start(word, { payment: { mobileMoney } });
    await until('the payment to be tried', async () => money.waiting.has(reference));
    timesShown = 1;
    return { reference, handle };
  };
  const expectFollowed = async ({ reference, handle }: { reference: string; handle: WorkflowHandle }) => {
    money.goOn();
    await decisions.bench.pass(HOUR_MS);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  };

  test('is followed, though a person is asked by then, and the lookup shows an older copy: no order calls it unpaid', async () => {
    const flow = await start('shown-while-parked', { deadlineSeconds: 3_600 });
    await noted(flow.handle, 'awaiting-payment');
    isRefused = { invoice: false, payment: true };
    await decisions.bench.pass(HOUR_MS);
    expect((await parked(flow.handle)).parked?.reason).toBe('payment_unclear');
    timesShown = 1;
    await expect(flow.handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    isRefused = { invoice: false, payment: false };
    await resolve(flow.handle, 'close-not-executed').catch(() => undefined);
    await expectFollowed(flow);
  });

  test('that was not shown as paid by its deadline waits on if a person orders that, and does not expire', async () => {
    const { handle } = await start('waits-on', { deadlineSeconds: 3_600 });
    await noted(handle, 'awaiting-payment');
    isRefused = { invoice: false, payment: true };
    await decisions.bench.pass(HOUR_MS);
    await parked(handle);
    await resolve(handle, 'keep-waiting');
    isRefused = { invoice: false, payment: false };
    await decisions.bench.pass(60_000 * TIME_SCALE);
    money.goOn();
    await handle.executeUpdate('pay', { args: [{ mobileMoney, actor: 'ann' }] });
    expect((await noted(handle, 'accepted', '', 2)).view.outcome).toBeNull();
    await handle.terminate();
  });

  test('is followed if the lookup for an order of a person is the one that shows it: the order is refused', async () => {
    const flow = await start('shown-to-order', { deadlineSeconds: 3_600 });
    await noted(flow.handle, 'awaiting-payment');
    isRefused = { invoice: false, payment: true };
    await decisions.bench.pass(HOUR_MS);
    expect((await parked(flow.handle)).parked?.reason).toBe('payment_unclear');
    timesShown = 1;
    await expect(resolve(flow.handle, 'close-not-executed')).rejects.toThrow();
    isRefused = { invoice: false, payment: false };
    await expectFollowed(flow);
  });

  test('to an order to cancel is not paid by us, though the lookup before our payment was asked earlier, and answers later', async () => {
    const flow = await start('shown-meanwhile', {});
    await noted(flow.handle, 'awaiting-payment');
    const lookup = gate();
    held = lookup.opened;
    money.goOn();
    const pay = flow.handle.executeUpdate('pay', { args: [{ mobileMoney, actor: 'ann' }] });
    await until('the lookup', async () => isHeld);
    timesShown = 1;
    await expect(flow.handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    lookup.open();
    await pay.catch(() => undefined);
    await expectFollowed(flow);
  });

  test('is followed if the customer pays it while the invoice cannot be read, and is called paid once it can be compared', async () => {
    isRefused = { invoice: true, payment: false };
    const flow = await start('unread-paid', { payment: { mobileMoney } });
    await noted(flow.handle, 'reading-invoice');
    timesShown = 1_000;
    await flow.handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    await decisions.bench.pass(READING_MS);
    expect((await parked(flow.handle)).parked).toMatchObject({
      reason: 'conflict',
      evidence: { words: ['SUCCESSFUL'], code: 'not_compared' },
    });
    isRefused = { invoice: false, payment: false };
    await expectFollowed(flow);
  });

  test.each(['SUCCESSFUL', 'FAILED'])(
    'is not disowned if ours was sent, and a trusted %s came while a person closed it as not executed: it is followed',
    async (word) => {
      const { handle } = await start('sent', {});
      await noted(handle, 'awaiting-payment');
      money.goOn();
      isLost = true;
      await handle.executeUpdate('pay', { args: [{ mobileMoney, actor: 'ann' }] }).catch(() => undefined);
      await parked(handle);
      const { claims } = decisions.store;
      const write = claims.closeNotExecuted.bind(claims);
      jest.spyOn(claims, 'closeNotExecuted').mockImplementationOnce(async (key, order) => {
        const isClosed = await write(key, order);
        await inInbox(decisions, handle.workflowId, word);
        return isClosed;
      });
      await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({
        cause: { type: 'event_reports_it' },
      });
      isLost = false;
      const { view } = await noted(handle, 'proven');
      expect(view.outcome).toBeNull();
      expect(entriesOf(view, 'paid-elsewhere')).toEqual([]);
      await handle.terminate();
    },
  );

  const closedUnasked = async (word: string) => {
    const flow = await start(word, { deadlineSeconds: 180_000 });
    await noted(flow.handle, 'awaiting-payment');
    money.goOn();
    isLost = true;
    await flow.handle.executeUpdate('pay', { args: [{ mobileMoney, actor: 'ann' }] }).catch(() => undefined);
    await parked(flow.handle);
    isRefused = { invoice: false, payment: true };
    const closed = resolve(flow.handle, 'close-not-executed');
    await decisions.bench.pass(READING_MS);
    expect(await closed).toEqual({ accepted: true });
    expect((await untilFlow(flow.handle, () => true)).view.outcome).toBeNull();
    isLost = false;
    return flow;
  };

  test('is followed if a person has closed ours as not executed while it was not known whether others have paid', async () => {
    const flow = await closedUnasked('closed-unasked');
    isRefused = { invoice: false, payment: false };
    timesShown = 1;
    await expectFollowed(flow);
  });

  test('or cannot be asked for until the deadline, is a question of its own once ours was closed as not executed', async () => {
    const { handle } = await closedUnasked('never-asked');
    await decisions.bench.pass(1_800_000);
    expect((await parked(handle)).parked?.reason).toBe('payment_unclear');
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
  });

  test('is not called paid once it can be compared if a trusted event has reported another amount since', async () => {
    isRefused = { invoice: true, payment: false };
    const { handle } = await start('unread-differs', { payment: { mobileMoney } });
    await noted(handle, 'reading-invoice');
    timesShown = 1_000;
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    await decisions.bench.pass(READING_MS);
    await parked(handle);
    await handle.signal('events', [
      trusted('SUCCESSFUL', { source: 'webhook', facts: { paidAmount: '7', paidCurrency: 'KES' } }),
    ]);
    isRefused = { invoice: false, payment: false };
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    await handle.terminate();
  });

  test('and could be compared only after a trusted REVERSED came, is ended by a person by either of both proofs', async () => {
    isRefused = { invoice: true, payment: false };
    const { handle } = await start('unread-reversed', { payment: { mobileMoney } });
    await noted(handle, 'reading-invoice');
    timesShown = 1_000;
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    await decisions.bench.pass(READING_MS);
    await parked(handle);
    await handle.signal('events', [trusted('REVERSED', { source: 'webhook' })]);
    isRefused = { invoice: false, payment: false };
    const excludes = /excludes one another/;
    await untilFlow(handle, ({ view }) => excludes.test(String(view.parked?.evidence['why'])));
    // Both were shown: the payment that was proven before counts, although it could not be compared then.
    expect(await resolve(handle, 'mark-completed')).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('is followed, though the next lookup shows an older copy: it is not called unpaid', async () => {
    await expectFollowed(await waiting('shown-once'));
  });

  test('is the end after a cancel that was refused for it, though money is stopped: ours is never sent', async () => {
    const flow = await waiting('shown-to-cancel');
    const cancel = flow.handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] });
    await expect(cancel).rejects.toMatchObject({ cause: { type: 'paid_by_another_way' } });
    expect(await ended(flow.handle)).toMatchObject({ state: 'completed' });
    await expectFollowed(flow);
  });
});
