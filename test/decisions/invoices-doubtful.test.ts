import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { operations } from '../../src/contract/index.js';
import { flowOf } from '../../src/flows/index.js';
import { invoiceFacts } from '../../src/flows/invoice-payment.js';
import { differences } from '../../workflows/engine/events.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { anEvent } from '../store/temporary-store.js';
import { ended, noted, openDecisionBench, parked, TIME_SCALE } from './bench.js';

const MONEY = { currency: 'KES', amount: '1000.50' };

/** What the service shows in place of the sandbox's members, as it comes over the wire. */
let invoice: Record<string, unknown> = {};
let payment: Record<string, unknown> = {};

describe('an invoice that is to be paid', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      getInvoice: async (reference) =>
        operations.getInvoice.data.parse({ ...(await service.getInvoice(reference)), ...invoice }),
      getInvoicePayment: async (reference) =>
        operations.getInvoicePayment.data.parse({ ...(await service.getInvoicePayment(reference)), ...payment }),
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());
  beforeEach(() => {
    invoice = {};
    payment = {};
  });

  const start = (reference: string, more: Record<string, unknown>) => {
    const input = { referenceId: reference, ...MONEY, bank, payment: { mobileMoney }, timeScale: TIME_SCALE, ...more };
    return decisions.bench.startFlow('invoice-payment', reference, input);
  };
  const isPaidByUs = async (reference: string) => (await decisions.executions('payInvoice', reference)) > 0;
  const parkedOrPaid = async (handle: WorkflowHandle) =>
    (
      await untilFlow(handle, ({ view: { state, timeline } }) =>
        timeline.some(({ detail }) => state === 'parked' || /payment accepted/.test(detail)),
      )
    ).view;

  test.each([
    ['is another one of three digits', '789', '780', { bankAccount: '…780' }],
    ['ends in other letters', '6200012AB', '6200012CD', { bankAccount: '…12CD' }],
  ])('is not paid when its account %s: a person is asked', async (_, ours, accountNumber, theirs) => {
    invoice = { accountNumber };
    const reference = newReference('account');
    const handle = await start(reference, { bank: { ...bank, accountNumber: ours }, deadlineSeconds: 360_000 });
    expect((await parkedOrPaid(handle)).parked).toMatchObject({ reason: 'duplicate_mismatch', evidence: { theirs } });
    expect(await isPaidByUs(reference)).toBe(false);
    await handle.terminate();
  });

  test.each([{ number: '0099990000' }, true])(
    'is not paid, and expires at its deadline, if its account is %j, which may be any',
    async (accountNumber) => {
      invoice = { accountNumber };
      const reference = newReference('odd-account');
      const handle = await start(reference, { deadlineSeconds: 200 });
      await decisions.bench.pass(200 * 1_000 * TIME_SCALE);
      const { outcome } = await ended(handle);
      expect(outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
      expect(await isPaidByUs(reference)).toBe(false);
    },
  );

  test.each([
    ['says SETTLED', { status: 'SETTLED' }],
    ['says PARTIALLY_PAID', { status: 'PARTIALLY_PAID' }],
    ['has a status that cannot be read', { status: { word: 'PAID' } }],
    ['cannot be read', 'PAID'],
  ])('is not paid, and does not expire, while its payment is PENDING and the invoice %s', async (_, inner) => {
    payment = { invoice: inner };
    const reference = newReference('beside');
    const handle = await start(reference, { deadlineSeconds: 200 });
    await decisions.bench.pass(200 * 1_000 * TIME_SCALE);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'payment_unclear' });
    payment = {};
    expect(await ended(handle)).toMatchObject({ state: 'expired', outcome: { reason: 'deadline_passed' } });
    expect(await isPaidByUs(reference)).toBe(false);
  });

  test('does not fail by a failed attempt when the invoice is PAID: its payment is followed', async () => {
    const reference = newReference('beside-ours');
    const handle = await start(reference, { deadlineSeconds: 360_000 });
    await noted(handle, 'accepted', '', 2);
    payment = { status: 'FAILED', invoice: { status: 'PAID' } };
    await untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => /FAILED_BESIDE_PAID/.test(detail)));
    payment = { status: 'SUCCESSFUL', amount: 1000.5, currency: 'KES' };
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await isPaidByUs(reference)).toBe(true);
  });

  test('is not paid against a trusted webhook of a payment that was quarantined before its flow was found', async () => {
    const reference = newReference('quarantined');
    const webhook = anEvent({ source: 'webhook', flowId: null, reference, status: 'CONFIRMED', toMatch: true });
    const { inbox } = decisions.store;
    await inbox.receive(webhook);
    await inbox.settle([{ id: webhook.id, state: 'quarantined', detail: 'it was not opened' }]);
    const handle = await start(reference, { deadlineSeconds: 200 });
    await decisions.bench.pass(200 * 1_000 * TIME_SCALE);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'payment_unclear' });
    expect(await isPaidByUs(reference)).toBe(false);
    await handle.terminate();
  });
});

describe('the account that the record of an invoice shows', () => {
  const differing = (ours: string, shown: Record<string, unknown>) => {
    const { input, submissions } = flowOf('invoice-payment');
    const asked = input.parse({ referenceId: 'r', ...MONEY, bank: { ...bank, accountNumber: ours } });
    const record = { referenceId: 'r', invoice: { amount: 1000.5, currency: 'KES' }, ...shown };
    return differences(
      submissions!['generate']!.factsOf(asked),
      invoiceFacts(operations.getInvoice.data.parse(record)),
    );
  };

  test.each<[string, string, Record<string, unknown>]>([
    ['is written with spaces and dashes', '0012345678', { accountNumber: '00-1234 5678' }],
    ['is written in small letters', 'GB00 12AB', { accountNumber: 'gb0012ab' }],
    ['shows only its end', '0012345678', { accountNumber: '****5678' }],
    ['is a number', '12345678', { accountNumber: 12_345_678 }],
    ['is short', '789', { accountNumber: '789' }],
  ])('is ours when it %s', (_, ours, shown) => {
    expect(differing(ours, shown)).toEqual([]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['is missing', {}],
    ['is null', { accountNumber: null }],
    ['is empty', { accountNumber: '' }],
    ...['0099****', '••••', '99######', '0099XXXX', '0099xxx1', '0099...', '0099…78', 'N/A', 'hidden', '78'].map(
      (masked): [string, Record<string, unknown>] => [`is ${masked}`, { accountNumber: masked }],
    ),
  ])('is neither ours nor another one when it %s', (_, shown) => {
    expect(differing('0012345678', shown)).toEqual([]);
  });

  test.each<[string, string, unknown]>([
    ['of four other digits', '0012345678', '0012345679'],
    ['that is shorter', '0012345678', '678'],
    ['that ends in a letter', '0012345678', '001234567A'],
    ['that cannot be read', '789', ['789']],
  ])('is another one when it has an end %s', (_, ours, accountNumber) => {
    expect(differing(ours, { accountNumber })).toEqual(['bankAccount']);
  });
});
