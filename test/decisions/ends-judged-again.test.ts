import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { InvoicePayment } from '../../src/contract/invoice.js';
import { RejectedError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import bankCheckout from '../kinds/bank-checkout.js';
import {
  ended,
  gate,
  holdVoids,
  inInbox,
  entriesOf,
  noted,
  openDecisionBench,
  parked,
  resolve,
  TIME_SCALE,
} from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
const BY = { actor: 'ann' };
/** A flow gives up one question to its inbox after this time, ms. */
const PATIENCE_MS = 15_000;

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
/** The answer of the invoice's lookup; undefined: the sandbox's. */
let invoice: (() => Promise<InvoicePayment>) | undefined;
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    getInvoicePayment: (reference) => (invoice === undefined ? service.getInvoicePayment(reference) : invoice()),
  }));
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const MINUTES_SECONDS = 6_000;
const SHORT = { timeScale: TIME_SCALE, deadlineSeconds: MINUTES_SECONDS };
const toDeadline = () => decisions.bench.pass(MINUTES_SECONDS * 1_000 * TIME_SCALE);
const startInvoice = async (word: string) => {
  const reference = newReference(word);
  const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, ...SHORT };
  const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
  await noted(handle, 'awaiting-payment');
  return { reference, handle };
};

const awaitingApproval = async (word: string) => {
  const handle = await decisions.bench.start(transferInput(newReference(word), { approval: 'required', ...SHORT }));
  await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
  return handle;
};

describe('an end that was decided while the inbox could not be read', () => {
  const cannotRead = () =>
    jest.spyOn(decisions.store.inbox, 'list').mockRejectedValue(new StoreUnavailableError('SQLITE_BUSY', 'database'));

  /** So many readings were given up, and the next one has begun. */
  const givenUp = async (handle: WorkflowHandle, times: number, away: ReturnType<typeof cannotRead>) => {
    const { length } = away.mock.calls;
    await decisions.bench.pass(times * PATIENCE_MS + 2_000);
    await untilFlow(handle, ({ view }) => entriesOf(view, 'inbox-not-read').length === times);
    await until('the next reading', async () => away.mock.calls.length > length);
  };

  test('is none for a transfer that owes a refund by what the inbox holds once it can be read', async () => {
    const handle = await decisions.bench.start(transferInput(newReference('owes'), LONG));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const away = cannotRead();
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    await givenUp(handle, 1, away);
    await inInbox(decisions, handle.workflowId, 'FAILED', { body: { refund_details: { status: 'PENDING' } } });
    away.mockRestore();
    const { view } = await untilFlow(
      handle,
      (report) => report.view.outcome !== null || report.view.parked?.reason === 'refund_needed',
    );
    expect(view).toMatchObject({ outcome: null, stage: 'refunding' });
    await handle.terminate();
  });

  test('is none for a checkout while the inbox holds an event that differs: once a person dismissed that one, it fails', async () => {
    const reference = newReference('differs');
    const handle = await decisions.bench.startFlow('bank-checkout', reference, {
      ...bankCheckout.input(reference),
      ...LONG,
    });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const away = cannotRead();
    await handle.signal('events', [trusted('FAILED')]);
    await givenUp(handle, 1, away);
    await inInbox(decisions, handle.workflowId, 'PENDING', { body: { amount: '1', currency: 'ZZZ' } });
    away.mockRestore();
    await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });
});

describe('an end that the store did not carry out for a while', () => {
  /** The flow asks a person, and goes on trying to void its claims. */
  const withoutStore = async (handle: WorkflowHandle) => {
    const { claims } = decisions.store;
    const away = jest.spyOn(claims, 'voidAll').mockRejectedValue(new StoreUnavailableError('SQLITE_BUSY', 'database'));
    await toDeadline();
    await decisions.bench.pass(PATIENCE_MS + 2_000);
    expect((await parked(handle)).parked?.reason).toBe('step_failed');
    return away;
  };
  const shows = (referenceId: string, status: string) => {
    invoice = () => Promise.resolve({ referenceId, status, amount: '1000.5', currency: 'KES' });
  };
  afterEach(() => {
    invoice = undefined;
  });

  test.each([
    ['paid', 'SUCCESSFUL'],
    ['may be about to pay', 'INITIATED'],
  ])('is none for an invoice that its customer %s meanwhile: the service is asked again', async (_, status) => {
    const { reference, handle } = await startInvoice('paid-meanwhile');
    const away = await withoutStore(handle);
    shows(reference, status);
    away.mockRestore();
    if (status === 'INITIATED') {
      await untilFlow(handle, ({ view }) => view.parked?.reason === 'payment_unclear');
      shows(reference, 'SUCCESSFUL');
    }
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  test('leaves nothing to be paid: an order to pay that came meanwhile is refused, and an unpaid invoice expires', async () => {
    const { reference, handle } = await startInvoice('ordered-meanwhile');
    const away = await withoutStore(handle);
    shows(reference, 'INITIATED');
    const isRefused = expect(handle.executeUpdate('pay', { args: [{ ...BY, mobileMoney }] })).rejects.toMatchObject({
      cause: { type: 'payment_unclear' },
    });
    await until('the order to be recorded', async () => {
      const orders = await decisions.store.audit.list({ flowId: handle.workflowId, kind: 'order', limit: 10 });
      return orders.some(({ action }) => action === 'pay');
    });
    away.mockRestore();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'payment_unclear');
    await isRefused;
    invoice = undefined;
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });
});

test('an invoice that its service does not know is unpaid, and expires by itself', async () => {
  const { handle } = await startInvoice('unknown');
  const about = { httpStatus: 404, message: 'Not found', fields: [], isRateExpired: false, isAboutReference: false };
  invoice = () => Promise.reject(new RejectedError('getInvoicePayment', { ...about, saysNoRecord: true }));
  await toDeadline();
  expect(await ended(handle)).toMatchObject({ state: 'expired' });
  invoice = undefined;
});

describe('an order that comes while the deadline ends its flow', () => {
  test('to cancel it finds the claim void, and is refused since the flow expired', async () => {
    const handle = await awaitingApproval('expired-first');
    const voids = holdVoids(decisions, 1);
    await toDeadline();
    await until('the deadline to void the claim', () => voids.begun() === 1);
    const isRefused = expect(handle.executeUpdate('cancel', { args: [BY] })).rejects.toMatchObject({
      cause: { type: 'flow_ended' },
    });
    voids.letGo(0);
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
    await isRefused;
  });

  test('to approve its quote is refused', async () => {
    const handle = await awaitingApproval('approved-late');
    const voids = holdVoids(decisions, 1);
    await toDeadline();
    await until('the deadline to void the claim', () => voids.begun() === 1);
    const isRefused = expect(handle.executeUpdate('approveQuote', { args: [BY] })).rejects.toMatchObject({
      cause: { type: 'flow_stopped' },
    });
    voids.letGo(0);
    await isRefused;
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
  });

  test('to pay its invoice is refused, and nothing is sent', async () => {
    const { reference, handle } = await startInvoice('paid-late');
    const { claims } = decisions.store;
    const write = claims.voidAll.bind(claims);
    const voids = gate();
    const ending = jest.spyOn(claims, 'voidAll').mockImplementation(async (...order) => {
      await voids.opened;
      return write(...order);
    });
    await toDeadline();
    await until('its claims to be voided', () => ending.mock.calls.length > 0);
    const isRefused = expect(handle.executeUpdate('pay', { args: [{ ...BY, mobileMoney }] })).rejects.toMatchObject({
      cause: { type: 'flow_ended' },
    });
    voids.open();
    await isRefused;
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });
});
