import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Invoice, InvoicePayment } from '../../src/contract/invoice.js';
import { ServiceUnavailableError } from '../../src/service-client/index.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, noted, openDecisionBench, parked, READING_MS, resolve, TIME_SCALE } from './bench.js';

/** The amount of the invoice that the service shows; 'hidden': it shows none; undefined: the sandbox's. */
let amount: string | undefined;
/** The word of its payment that the service shows; undefined: the sandbox's. */
let word: string | undefined;

const ANOTHER = {
  differs: ['amount'],
  ours: { amount: '1000.5', currency: 'KES' },
  theirs: { amount: '9', currency: 'KES' },
};
const webhook = (status: string, facts: Record<string, string> = {}) => trusted(status, { source: 'webhook', facts });

describe('an invoice that is not the one that was asked for, or may be another', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      getInvoice(reference) {
        if (amount === undefined) return service.getInvoice(reference);
        if (amount === 'hidden') return Promise.reject(new ServiceUnavailableError('getInvoice', 'http-status', 503));
        const invoice = { amount: Number(amount), currency: 'KES' };
        return Promise.resolve({ referenceId: reference, invoice } as unknown as Invoice);
      },
      getInvoicePayment: (referenceId) =>
        word === undefined
          ? service.getInvoicePayment(referenceId)
          : Promise.resolve({ referenceId, status: word, amount: '1000.5', currency: 'KES' } as InvoicePayment),
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());
  beforeEach(() => {
    amount = undefined;
    word = undefined;
  });

  const start = async (name: string) => {
    const reference = newReference(name);
    const money = { currency: 'KES', amount: '1000.50', bank, payment: { mobileMoney } };
    const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds: 1_800_000 };
    return { reference, handle: await decisions.bench.startFlow('invoice-payment', reference, input) };
  };
  const asked = async (name: string) => {
    amount = '9';
    const { reference, handle } = await start(name);
    const { parked: question } = await parked(handle);
    expect(question).toMatchObject({ reason: 'duplicate_mismatch', actions: ['close-not-executed'] });
    expect(question?.evidence).toEqual(ANOTHER);
    return { reference, handle };
  };
  /** It was paid, and cannot be compared. */
  const paidUnread = async (name: string) => {
    amount = 'hidden';
    const { reference, handle } = await start(name);
    await noted(handle, 'reading-invoice');
    word = 'SUCCESSFUL';
    await handle.signal('events', [webhook('SUCCESSFUL')]);
    await decisions.bench.pass(READING_MS);
    expect((await parked(handle)).parked?.evidence).toMatchObject({ ours: { amount: '1000.5', currency: 'KES' } });
    return { reference, handle };
  };
  const asksAbout = (handle: WorkflowHandle, reason: string) =>
    untilFlow(handle, ({ view }) => view.parked?.reason === reason).then(({ view }) => view.parked);
  const expectUnpaid = async (reference: string) => expect(await decisions.executions('payInvoice', reference)).toBe(0);

  test('is closed by a person without a payment', async () => {
    const { reference, handle } = await asked('closed');
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    await expectUnpaid(reference);
  });

  test('is followed once a trusted event reports it as paid, and is not called ours: a person is shown both sides', async () => {
    const { reference, handle } = await asked('paid');
    word = 'SUCCESSFUL';
    await handle.signal('events', [webhook('SUCCESSFUL')]);
    expect(await asksAbout(handle, 'conflict')).toMatchObject({ evidence: ANOTHER });
    await expectUnpaid(reference);
    await handle.terminate();
  });

  test('stays with the person while a trusted event reports only that an attempt to pay it failed', async () => {
    const { reference, handle } = await asked('attempt');
    await handle.signal('events', [webhook('FAILED')]);
    const { view } = await noted(handle, 'event-applied', 'FAILED');
    expect(view.parked?.reason).toBe('duplicate_mismatch');
    await expectUnpaid(reference);
    await handle.terminate();
  });

  test('was paid before it could be read: a person sees both sides once it is shown', async () => {
    const { reference, handle } = await paidUnread('unread');
    amount = '9';
    const { view } = await untilFlow(handle, ({ view }) => 'theirs' in (view.parked?.evidence ?? {}));
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: ANOTHER });
    await expectUnpaid(reference);
    await handle.terminate();
  });

  test.each([
    ['mark-completed', { state: 'completed', reason: null }],
    ['mark-failed', { state: 'failed', reason: 'closed_by_person' }],
  ])('was paid, and is never shown: a person ends it (%s)', async (action, outcome) => {
    const { reference, handle } = await paidUnread(action);
    await resolve(handle, action);
    expect((await ended(handle)).outcome).toMatchObject(outcome);
    await expectUnpaid(reference);
  });

  test('is not paid if a trusted event reports a payment of another amount while it cannot be read', async () => {
    amount = 'hidden';
    const { reference, handle } = await start('reported');
    await noted(handle, 'reading-invoice');
    await handle.signal('events', [webhook('SUCCESSFUL', { paidAmount: '7', paidCurrency: 'KES' })]);
    expect(await asksAbout(handle, 'event_mismatch')).toMatchObject({ evidence: { theirs: { paidAmount: '7' } } });
    amount = undefined;
    await decisions.bench.pass(READING_MS);
    await expectUnpaid(reference);
    await handle.terminate();
  });
});
