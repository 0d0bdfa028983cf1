import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { bolt11 } from './bolt11.js';
import { endOf, eventOf, move, order } from './ramps.js';

const OVER_LIGHTNING = { chain: 'LIGHTNING', token: 'SAT', cryptoAmount: '2100' };
const DUE_MSAT = 2_100_000;

describe('the refund of an offramp over Lightning', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 5 }, deps: { serviceIsOnLoopback: true } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const offramp = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending: 'refund-needs-invoice' });
    const handle = await bench.startFlow('offramp', reference, {
      referenceId: reference,
      currency: 'KES',
      ...OVER_LIGHTNING,
      ...more,
    });
    return { reference, handle };
  };
  type Handle = Awaited<ReturnType<typeof offramp>>['handle'];
  const asks = (reference: string, data: Record<string, unknown> = {}) =>
    eventOf('offramp', {
      event: 'refund.lightning.invoice_needed',
      data: { reference_id: reference, status: 'REFUND_PENDING', crypto_amount: 2_100, token: 'SAT', ...data },
    });
  /** The event asks; the lookup has to show that a refund is owed. */
  const asked = async (word: string, more?: Record<string, unknown>, data?: Record<string, unknown>) => {
    const { reference, handle } = await offramp(word, more);
    await untilFlow(handle, ({ view }) => view.stage !== 'submitting' && view.stage !== 'preparing');
    await handle.signal('events', [asks(reference, data)]);
    const report = await isParked(handle, 'refund_invoice_needed');
    return { reference, handle, report };
  };
  const isParked = async (handle: Handle, reason: string): Promise<FlowReport> => {
    for (let turn = 1; turn <= 40; turn += 1) {
      const report = await handle.query<FlowReport>('flow');
      if (report.view.parked?.reason === reason) return report;
      await bench.pass(1_000);
    }
    return untilFlow(handle, ({ view }) => view.parked?.reason === reason);
  };
  const provide = (handle: Handle, invoice: unknown, actor = 'ada') =>
    handle.executeUpdate('provideRefundInvoice', { args: [{ actor, invoice }] });
  const refusalOf = (order: Promise<unknown>) =>
    order.then(
      () => null,
      (error: { cause?: { type?: string } }) => error.cause?.type,
    );

  test('asks for an invoice, checks it, shows it, and waits for the refund once it was handed over', async () => {
    const { reference, handle, report } = await asked('whole');
    expect(report.view.parked).toMatchObject({
      actions: ['keep-waiting', 'mark-refunded', 'close-without-refund', 'mark-completed'],
      evidence: { dueMsat: '2100000', chain: 'LIGHTNING', token: 'SAT' },
    });
    const invoice = bolt11({ amountMsat: DUE_MSAT });
    expect(await provide(handle, invoice)).toMatchObject({ accepted: true });
    const { view } = await isParked(handle, 'refund_invoice_ready');
    expect(view.parked?.evidence).toMatchObject({ invoice, amountMsat: '2100000', paymentHash: expect.any(String) });
    expect(view.parked?.actions).toContain('confirm-handed-over');
    await bench.control('POST', `/transactions/${reference}/refund-invoice`, { invoice });
    await order(handle, 'confirm-handed-over', 'pasted into their dashboard').catch(() => undefined);
    const end = await endOf(handle);
    expect(end.view.outcome).toMatchObject({ state: 'refunded', reason: null });
    expect(JSON.stringify(end)).not.toContain('Canary');
    expect(await bench.executions('createOfframp', reference)).toBe(1);
  });

  test('the invoice may be given although the event that asks for it was lost', async () => {
    const { handle } = await offramp('event-lost');
    await bench.pass(120_000);
    await noted(handle, 'status-looked-up', 'REFUND_PENDING');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    await order(handle, 'confirm-handed-over');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    await handle.terminate();
  });

  test('parked or not, a refund that the service made meanwhile ends it, with all webhooks lost', async () => {
    const { reference, handle } = await asked('meanwhile');
    await move(bench, reference, 'REFUNDED');
    await bench.pass(600_000);
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'refunded' });
  });

  test('the amount of the refund is what the service reports, with fees deducted', async () => {
    const { handle, report } = await asked('fees', {}, { crypto_amount: '2000.0' });
    expect(report.view.parked?.evidence).toMatchObject({ dueMsat: '2000000' });
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT })))).toBe('invoice_refused');
    await provide(handle, bolt11({ amountMsat: 2_000_000 }));
    await isParked(handle, 'refund_invoice_ready');
    await handle.terminate();
  });

  test('if what the service reports cannot be read, an invoice is good up to what came in, and that is shown beside it', async () => {
    const { handle, report } = await asked('unreadable', {}, { crypto_amount: 'about 2,000' });
    expect(report.view.parked?.evidence).toMatchObject({ dueMsat: null, mostMsat: '2100000' });
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT + 1 })))).toBe('invoice_refused');
    await provide(handle, bolt11({ amountMsat: 2_000_000 }));
    const { view } = await isParked(handle, 'refund_invoice_ready');
    expect(view.parked?.evidence).toMatchObject({ amountMsat: '2000000', dueMsat: null, mostMsat: '2100000' });
    expect(entriesOf(view, 'refund-invoice-given')).toHaveLength(1);
    await handle.terminate();
  });

  test.each([
    ['no amount', {}],
    ['an amount that cannot be read', { crypto_amount: 'about 12' }],
  ])('no invoice is good for a refund of another token if the service reports %s', async (_, data) => {
    const other = { token: 'USDC', cryptoAmount: '12.5' };
    const { handle } = await asked('other-token', other, { token: 'USDC', crypto_amount: undefined, ...data });
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT })))).toBe('invoice_refused');
    const { view } = await isParked(handle, 'refund_invoice_needed');
    expect(entriesOf(view, 'refund-invoice-given')).toEqual([]);
    await handle.terminate();
  });

  test('an invoice that does not fit is refused, and the flow keeps asking', async () => {
    const { handle } = await asked('unfit');
    const good = bolt11({ amountMsat: DUE_MSAT });
    expect(await refusalOf(provide(handle, good.slice(0, -1)))).toBe('invoice_refused');
    expect(await refusalOf(provide(handle, 'Canary'))).toBe('invoice_refused');
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: null })))).toBe('invoice_refused');
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT - 1 })))).toBe('invoice_refused');
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT, expirySeconds: 60 })))).toBe(
      'invoice_refused',
    );
    const old = bolt11({ amountMsat: DUE_MSAT, createdAtMs: Date.now() - 7_200_000 });
    expect(await refusalOf(provide(handle, old))).toBe('invoice_refused');
    expect(await refusalOf(provide(handle, 7))).toBe('no_invoice');
    expect(await refusalOf(provide(handle, good, null as unknown as string))).toBe('no_actor');
    const { view } = await isParked(handle, 'refund_invoice_needed');
    expect(JSON.stringify(view)).not.toContain('Canary');
    await handle.terminate();
  });

  test('an invoice that would be good for 2^43 seconds is refused, and the flow takes another and ends', async () => {
    const { reference, handle } = await asked('for-ever');
    await expect(provide(handle, bolt11({ amountMsat: DUE_MSAT, expirySeconds: 2 ** 43 }))).rejects.toThrow();
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    await order(handle, 'confirm-handed-over');
    await move(bench, reference, 'REFUNDED');
    await bench.pass(600_000);
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'refunded' });
  });

  test('if an invoice expires before it was handed over, the flow asks for another', async () => {
    const { handle } = await asked('expires');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT, expirySeconds: 900 }));
    await isParked(handle, 'refund_invoice_ready');
    await bench.pass(1_000_000);
    const report = await isParked(handle, 'refund_invoice_needed');
    expect(entriesOf(report.view, 'refund-invoice-expired')).toHaveLength(1);
    await handle.terminate();
  });

  test('a new invoice takes the place of the one on show', async () => {
    const { handle } = await asked('replaced');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    const second = bolt11({ amountMsat: DUE_MSAT });
    await provide(handle, second);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.evidence['invoice'] === second);
    expect(view.parked?.reason).toBe('refund_invoice_ready');
    await handle.terminate();
  });

  test('no second invoice is taken while the one that was handed over can still be paid: that would be two refunds', async () => {
    const { handle } = await asked('twice');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    await order(handle, 'confirm-handed-over');
    const second = bolt11({ amountMsat: DUE_MSAT, createdAtMs: Date.now() + 86_400_000 });
    expect(await refusalOf(provide(handle, second))).toBe('invoice_can_still_be_paid');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    await handle.terminate();
  });

  test('no refund after it was handed over: parked at the new deadline, and another invoice is taken then', async () => {
    const { handle } = await asked('nothing-comes');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    await order(handle, 'confirm-handed-over');
    await bench.pass(3_700_000);
    await isParked(handle, 'refund_pending');
    await provide(handle, bolt11({ amountMsat: DUE_MSAT, createdAtMs: Date.now() + 86_400_000 }));
    await isParked(handle, 'refund_invoice_ready');
    await handle.terminate();
  });

  test.each([
    ['mark-refunded', { state: 'refunded' }],
    ['close-without-refund', { state: 'failed', reason: 'closed_by_person' }],
    ['mark-completed', { state: 'completed' }],
  ])('a person may end it: %s', async (action, outcome) => {
    const { handle } = await asked(action);
    await order(handle, action);
    expect((await endOf(handle)).view.outcome).toMatchObject(outcome);
  });

  test('a person may wait without an invoice', async () => {
    const { handle } = await asked('waits');
    await order(handle, 'keep-waiting');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    await bench.pass(3_700_000);
    await isParked(handle, 'refund_pending');
    await handle.terminate();
  });

  test('a person may wait until a time of their choice: then the flow asks about the refund, and not for an invoice', async () => {
    const { handle } = await asked('waits-until');
    const until = new Date(Date.now() + 40 * 86_400_000).toISOString();
    await handle.executeUpdate('resolve', { args: [{ action: 'keep-waiting', note: 'asked', actor: 'ada', until }] });
    const { view } = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(view).toMatchObject({ deadlineAt: until, parked: null });
    await handle.terminate();
  });

  test.each([
    ['mark-refunded', { state: 'refunded', reason: null }],
    ['close-without-refund', { state: 'failed', reason: 'closed_by_person' }],
  ])('a person may end it while an invoice is on show: %s', async (action, outcome) => {
    const { handle } = await asked(`shown-${action}`);
    const createdAtMs = Math.floor(Date.now() / 1_000) * 1_000;
    const invoice = bolt11({ amountMsat: DUE_MSAT, createdAtMs });
    const expiresAt = new Date(createdAtMs + 3_600_000).toISOString();
    expect(await provide(handle, invoice)).toEqual({ accepted: true, expiresAt });
    const { view } = await isParked(handle, 'refund_invoice_ready');
    // When it expires is shown as a time, once.
    expect(Object.keys(view.parked?.evidence ?? {}).toSorted()).toEqual([
      'amountMsat',
      'dueMsat',
      'expiresAt',
      'invoice',
      'mostMsat',
      'next',
      'payee',
      'paymentHash',
    ]);
    await order(handle, action);
    expect((await endOf(handle)).view.outcome).toMatchObject(outcome);
  });

  test('an invoice that was handed over is on show no more, and its refund has a deadline of its own', async () => {
    const { handle } = await asked('own-deadline');
    const { deadlineAt } = (await handle.query<FlowReport>('flow')).view;
    await provide(handle, bolt11({ amountMsat: DUE_MSAT }));
    await isParked(handle, 'refund_invoice_ready');
    await order(handle, 'confirm-handed-over');
    const { view } = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(Date.parse(view.deadlineAt!)).toBeGreaterThan(Date.parse(deadlineAt!));
    expect(entriesOf(view, 'refund-invoice-expired')).toEqual([]);
    await handle.terminate();
  });

  test('an order may have as many as 4,000 characters of an invoice', async () => {
    const { handle } = await asked('long');
    expect(await refusalOf(provide(handle, 'x'.repeat(4_001)))).toBe('no_invoice');
    expect(await refusalOf(provide(handle, 'x'.repeat(4_000)))).toBe('invoice_refused');
    await handle.terminate();
  });

  test('an invoice is taken for a refund over another chain, if the service asks for one', async () => {
    const { handle, report } = await asked('asked-anyway', { chain: 'CELO', token: 'USDC', cryptoAmount: '12.5' });
    expect(report.view.parked?.evidence).toMatchObject({ chain: 'CELO', token: 'USDC' });
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT })))).toBe('invoice_refused');
    await handle.terminate();
  });

  test('without a refund that is owed over Lightning no invoice is taken, nor from an untrusted event', async () => {
    const { reference, handle } = await offramp('not-owed', { chain: 'CELO', token: 'USDC', cryptoAmount: '12.5' });
    await untilFlow(handle, ({ view }) => view.stage !== 'submitting' && view.stage !== 'preparing');
    await handle.signal('events', [{ ...asks(reference), trusted: false, proof: null }]);
    await bench.pass(120_000);
    await noted(handle, 'status-looked-up', 'REFUND_PENDING');
    expect(await refusalOf(provide(handle, bolt11({ amountMsat: DUE_MSAT })))).toBe('no_refund_owed');
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await handle.terminate();
  });
});
