import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { InvoicePayment } from '../../src/contract/invoice.js';
import { RateLimitedError, RejectedError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { ended, entriesOf, gate, inInbox, noted, openDecisionBench, READING_MS, TIME_SCALE } from './bench.js';

const HOUR_MS = 3_600_000;
/** The answer of the payment's lookup; undefined: the sandbox's. */
let answer: (() => Promise<InvoicePayment>) | undefined;
/** Our payment is not taken, and tried again in an hour. */
let isBusy = false;
let tries = 0;

const shows = (status: string) => () =>
  Promise.resolve({ referenceId: 'r', status, amount: '1000.5', currency: 'KES' } as InvoicePayment);
const refuses = () =>
  Promise.reject<InvoicePayment>(
    new RejectedError('getInvoicePayment', {
      httpStatus: 403,
      fields: [],
      isRateExpired: false,
      isAboutReference: false,
    }),
  );

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    async payInvoice(body, options) {
      tries += 1;
      if (isBusy) throw new RateLimitedError('payInvoice', HOUR_MS);
      return service.payInvoice(body, options);
    },
    getInvoicePayment: (reference) => (answer === undefined ? service.getInvoicePayment(reference) : answer()),
  }));
});
afterEach(() => {
  jest.restoreAllMocks();
  [answer, isBusy, tries] = [undefined, false, 0];
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

/** The invoice can be paid, and its payment is not ordered yet. */
const unordered = async (word: string, deadlineSeconds = 1_800_000) => {
  const reference = newReference(word);
  const money = { currency: 'KES', amount: '1000.50', bank };
  const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds };
  const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
  const { view } = await noted(handle, 'awaiting-payment');
  return { reference, handle, view };
};
const pay = (handle: WorkflowHandle) => handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
/** What the order came to: its answer, or why it was refused. */
const outcomeOf = (order: Promise<unknown>) =>
  order.then(
    (said) => said,
    (error: Error) => error.cause,
  );
const cancel = (handle: WorkflowHandle) => outcomeOf(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] }));

describe('an order to pay an invoice', () => {
  test('is shown with who gave it, and gives the payment a deadline of its own', async () => {
    const { handle, view } = await unordered('shown');
    expect(view.stage).toBe('awaiting-payment');
    await decisions.bench.pass(60_000);
    expect(await pay(handle)).toMatchObject({ kind: 'accepted' });
    const after = (await noted(handle, 'accepted', '', 2)).view;
    expect(entriesOf(after, 'pay-ordered')).toMatchObject([{ by: 'shop (unproven)' }]);
    expect(Date.parse(after.deadlineAt!)).toBeGreaterThanOrEqual(Date.parse(view.deadlineAt!) + 60_000);
    await handle.terminate();
  });

  test('waits for its answer in the run that took it: the flow does not continue in another one under it', async () => {
    const { reference, handle } = await unordered('same-run');
    const { runId } = await handle.describe();
    const away = jest.spyOn(decisions.store.audit, 'append').mockImplementation(() => {
      throw new StoreUnavailableError('SQLITE_BUSY', 'database');
    });
    const order = outcomeOf(pay(handle));
    await until('the order to be tried', async () => away.mock.calls.length > 0);
    for (let n = 0; n < 185; n += 1) await handle.signal('events', []);
    await untilFlow(handle, () => true);
    expect((await handle.describe()).runId).toBe(runId);
    away.mockRestore();
    await decisions.bench.pass(60_000);
    expect(await order).toMatchObject({ kind: 'accepted' });
    expect(await decisions.executions('payInvoice', reference)).toBe(1);
    await handle.terminate();
  });

  test('is answered why the flow is parked, if its payment was turned away until the deadline', async () => {
    isBusy = true;
    const { reference, handle } = await unordered('unsent', 60_000);
    const order = outcomeOf(pay(handle));
    await until('the payment to be tried', async () => tries > 0);
    await decisions.bench.pass(601_000);
    expect(await order).toEqual({ kind: 'none', reason: 'unknown_outcome' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });
});

describe('an order to cancel an invoice', () => {
  test('is refused if it was paid already, and the flow follows that payment', async () => {
    const { handle } = await unordered('paid');
    answer = shows('SUCCESSFUL');
    expect(await cancel(handle)).toMatchObject({
      type: 'flow_ended',
      message: 'The flow cannot be cancelled: it has ended as completed.',
    });
    const view = await ended(handle);
    expect(view).toMatchObject({ state: 'completed' });
    expect(entriesOf(view, 'paid-elsewhere')).toMatchObject([{ stage: 'tracking', by: 'service' }]);
  });

  test('is refused when a trusted event in its inbox reports it as paid, whatever the lookup shows', async () => {
    const { handle } = await unordered('inbox');
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL');
    expect(await cancel(handle)).toMatchObject({ type: 'event_reports_it' });
    await handle.terminate();
  });

  test('is refused if the service cannot say whether it was paid', async () => {
    const { handle } = await unordered('unclear');
    answer = refuses;
    expect(await cancel(handle)).toMatchObject({ type: 'payment_unclear' });
    await handle.terminate();
  });

  test('is refused if the service does not answer', async () => {
    const { handle } = await unordered('silent');
    const held = gate();
    let isAsked = false;
    answer = async () => {
      isAsked = true;
      await held.opened;
      return shows('PENDING')();
    };
    const order = cancel(handle);
    await until('the lookup', async () => isAsked);
    await decisions.bench.pass(READING_MS);
    expect(await order).toMatchObject({ type: 'payment_unclear' });
    held.open();
    await handle.terminate();
  });
});
