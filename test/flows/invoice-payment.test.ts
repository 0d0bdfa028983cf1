import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import {
  accepted,
  bank,
  cancel,
  mobileMoney,
  ONCE,
  openInvoiceBench,
  parked,
  pay,
  resolve,
  SOON,
  stage,
  UNPAID,
  type InvoiceBench,
} from './invoice-payment-setup.js';

let b: InvoiceBench;
beforeAll(async () => {
  b = await openInvoiceBench();
});
afterAll(() => b.bench.close());

const webhook = (word: string, facts = {}, more = {}) => trusted(word, { source: 'webhook', facts, ...more });

describe('an invoice payment', () => {
  test('generates the invoice, pays it at once and confirms it, all webhooks lost', async () => {
    const flow = await b.startPaid('happy');
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('hardly polls if a trusted event reports the end: one lookup confirms it', async () => {
    const flow = await b.startPaid('events');
    await accepted(flow);
    await b.shownAsPaid(flow.reference);
    await flow.handle.signal('events', [webhook('SUCCESSFUL', { amount: '1000.5' })]);
    const { view } = await untilFlow(flow.handle, (report) => report.view.outcome !== null);
    expect(view.state).toBe('completed');
    expect(entriesOf(view, 'status-looked-up')).toHaveLength(1);
  });

  test.each([
    ['failed', 'failed', 'failed_at_service'],
    ['cancelled', 'failed', 'failed_at_service'],
    ['declined', 'failed', 'failed_at_service'],
    ['expired', 'failed', 'failed_at_service'],
    ['no-callbacks-ever', 'completed', null],
    ['success-after-timeout', 'completed', null],
    ['slow', 'completed', null],
  ])('whose payment is %s ends %s', async (ending, state, reason) => {
    await b.bench.control('POST', '/settings', { lateMs: 300, slowFactor: 5 });
    const flow = await b.startPaid(ending, ending);
    expect((await b.ended(flow)).outcome).toMatchObject({ state, reason });
  });

  test.each(['rejected', 'insufficient-funds'])(
    'whose payment is %s parks, since PENDING is shown of a paid invoice, too, and ends as ordered',
    async (ending) => {
      const flow = await b.startPaid(ending, ending);
      expect((await parked(flow)).parked?.reason).toBe('unknown_outcome');
      await resolve(flow, 'close-not-executed');
      expect((await b.ended(flow)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    },
  );

  test.each(['never', 'review'])('whose payment is %s parks at its deadline, and ends as ordered', async (ending) => {
    const flow = await b.startPaid(ending, ending, SOON);
    expect((await parked(flow)).parked?.reason).toBe('no_settlement');
    await resolve(flow, 'mark-failed');
    expect((await b.ended(flow)).outcome).toMatchObject({ state: 'failed', reason: 'closed_by_person' });
  });

  test('an hour of polling adds no history; a late event resolves what was parked', async () => {
    // Its deadline is far away, however slow the machine is.
    const flow = await b.startPaid('late', 'never', { timeScale: 0.001, deadlineSeconds: 30_000 });
    await noted(flow.handle, 'status-looked-up', 'PENDING');
    const before = (await flow.handle.describe()).historyLength;
    await b.bench.pass(3_600);
    expect((await flow.handle.describe()).historyLength - before).toBeLessThanOrEqual(8);
    await b.bench.pass(30_000);
    await parked(flow);
    expect((await b.paid(flow)).state).toBe('completed');
  });

  test('an untrusted event moves nothing, and neither does a trusted one that the lookup does not confirm', async () => {
    const flow = await b.startPaid('untrusted', 'never');
    await accepted(flow);
    await flow.handle.signal('events', [webhook('SUCCESSFUL', {}, { trusted: false, proof: null })]);
    await flow.handle.signal('events', [webhook('PAID')]);
    const { view, events } = await noted(flow.handle, 'event-applied', 'PAID');
    expect(view.state).toBe('running');
    expect(Object.values(events)).toEqual(['unverified', 'applied']);
    expect((await b.paid(flow)).state).toBe('completed');
  });

  test('a trusted event of another amount is shown to a person, with both sides', async () => {
    const flow = await b.startPaid('mismatch', 'never');
    await accepted(flow);
    await flow.handle.signal('events', [webhook('SUCCESSFUL', { amount: '1', currency: 'KES' })]);
    expect((await parked(flow)).parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { ours: { amount: '1000.5' }, theirs: { amount: '1' } },
    });
    await resolve(flow, 'dismiss-event');
    expect((await b.paid(flow)).state).toBe('completed');
  });
});

describe('an invoice that waits to be paid', () => {
  test('is paid when ordered; a second order finds the first, and a different one is refused', async () => {
    const flow = await b.start('told');
    await stage(flow, 'awaiting-payment');
    expect(await flow.handle.executeUpdate('answer')).toMatchObject({ answer: { reference_id: flow.reference } });
    const [first, second] = await Promise.all([pay(flow), pay(flow, { amount: '1000.500' })]);
    expect(first).toMatchObject({ kind: 'accepted', answer: { referenceId: flow.reference } });
    expect(second).toEqual(first);
    await expect(pay(flow, { amount: '5' })).rejects.toMatchObject({ cause: { type: 'other_request' } });
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test.each([
    ['mobileMoney.phoneNumber', { mobileMoney: { phoneNumber: '0712345678' } }],
    ['amount', { amount: '10.505' }],
    ['amount', { currency: 'UGX' }],
    ['currency', { currency: 'DOGE' }],
  ])('refuses an order with a wrong %s by name, without the value, and waits on', async (member, order) => {
    const flow = await b.start('wrong-order');
    const says = expect.stringMatching(new RegExp(`payment.${member}: (?!.*(0712|10\\.505|DOGE))`));
    await expect(pay(flow, order)).rejects.toMatchObject({ cause: { type: 'invalid_input', message: says } });
    expect((await stage(flow, 'awaiting-payment')).view.state).toBe('running');
    expect(await b.executed(flow.reference)).toEqual(UNPAID);
    await cancel(flow);
  });

  test('pays in another currency, and takes events of either amount', async () => {
    const flow = await b.start('exchange', {}, 'never');
    await pay(flow, { amount: '129.5', currency: 'ZAR' });
    await accepted(flow);
    await flow.handle.signal('events', [webhook('PENDING', { amount: '1000.5', currency: 'KES' })]);
    await flow.handle.signal('events', [webhook('PROCESSING', { amount: '129.5', currency: 'ZAR' })]);
    expect((await b.paid(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });

  test('can be cancelled: a generated, unpaid invoice has moved nothing', async () => {
    const flow = await b.start('cancel');
    await stage(flow, 'awaiting-payment');
    await cancel(flow);
    expect((await b.ended(flow)).state).toBe('cancelled');
    expect(await b.executed(flow.reference)).toEqual(UNPAID);
  });

  test('cannot be cancelled once its payment was sent', async () => {
    const flow = await b.startPaid('too-late', 'never');
    await accepted(flow);
    await expect(cancel(flow)).rejects.toMatchObject({ cause: { type: 'money_may_have_moved' } });
    expect((await b.paid(flow)).state).toBe('completed');
  });

  test('expires at its deadline with nothing moved', async () => {
    const flow = await b.start('expires', SOON);
    expect((await b.ended(flow)).outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
    expect(await b.executed(flow.reference)).toEqual(UNPAID);
  });

  test('completes without paying if the customer paid it on its own page: an event triggers the lookup', async () => {
    const flow = await b.start('own-page');
    const { reference } = flow;
    await stage(flow, 'awaiting-payment');
    await b.bench.deps.service.payInvoice({ referenceId: reference, amount: 1000.5, currency: 'KES', mobileMoney });
    await b.shownAsPaid(reference);
    await flow.handle.signal('events', [webhook('SUCCESSFUL')]);
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(reference)).toEqual(ONCE);
    expect(await b.bench.store.claims.ofFlow(`invoice-payment/${reference}`)).toHaveLength(1);
  });

  test('continues in a new run after hundreds of signals, and is still paid once', async () => {
    const flow = await b.start('long');
    await stage(flow, 'awaiting-payment');
    const first = (await flow.handle.describe()).runId;
    for (let n = 0; n < 185; n += 1) await flow.handle.signal('events', []);
    // It need not be ordered to be paid for that.
    await until('a new run', async () => (await flow.handle.describe()).runId !== first);
    const { view } = await stage(flow, 'awaiting-payment');
    expect(await pay(flow)).toMatchObject({ kind: 'accepted' });
    expect((await b.ended(flow)).state).toBe('completed');
    // The invoice is compared once.
    expect(entriesOf(view, 'reading-invoice')).toHaveLength(1);
    expect(await b.executed(flow.reference)).toEqual(ONCE);
  });
});

describe('an invoice that exists already', () => {
  test('is only paid', async () => {
    const flow = await b.startExisting('existing');
    const answer = { kind: 'accepted', answer: { referenceId: flow.reference } };
    expect(await flow.handle.executeUpdate('answer')).toMatchObject(answer);
    expect(await pay(flow)).toMatchObject(answer);
    expect((await b.ended(flow)).state).toBe('completed');
    expect(await b.executed(flow.reference)).toEqual(ONCE);
    expect(await b.bench.store.claims.ofFlow(`invoice-payment/${flow.reference}`)).toHaveLength(1);
  });

  test('is not paid again if the service shows a payment', async () => {
    const reference = newReference('twice');
    const payment = { referenceId: reference, currency: 'KES', amount: 7, mobileMoney } as const;
    await b.bench.deps.service.createInvoice({ referenceId: reference, currency: 'KES', amount: 7, bank });
    await b.bench.deps.service.payInvoice(payment);
    await b.shownAsPaid(reference);
    const handle = await b.startFlow(reference, { ...payment, pay: 'existing' });
    expect((await b.ended({ reference, handle })).state).toBe('completed');
    expect(await b.executed(reference)).toEqual(ONCE);
    expect(await b.bench.store.claims.ofFlow(`invoice-payment/${reference}`)).toHaveLength(0);
  });

  test('is refused by the service if it does not exist', async () => {
    const reference = newReference('nowhere');
    const input = { referenceId: reference, currency: 'KES', amount: '5', mobileMoney };
    const handle = await b.startFlow(reference, input);
    const { outcome } = await b.ended({ reference, handle });
    expect(outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
  });
});

describe('the input of an invoice payment', () => {
  test.each([
    ['currency', { currency: 'DOGE' }],
    ['amount', { amount: '-1' }],
    ['amount', { amount: '10.505' }],
    ['amount', { amount: '10.5', currency: 'UGX' }],
    ['bank', { bank: undefined }],
    ['bank.phoneNumber', { bank: { ...bank, phoneNumber: '0712345678' } }],
    ['bank.country', { bank: { ...bank, country: 'Canaria' } }],
    ['bank.accountNumber', { bank: { ...bank, accountNumber: '' } }],
    ['payment.mobileMoney.phoneNumber', { payment: { mobileMoney: { phoneNumber: '254712345678' } } }],
    ['payment.amount', { payment: { mobileMoney, amount: '0' } }],
    ['payment.amount', { payment: { mobileMoney, currency: 'ZAR' } }],
    ['payment.currency', { payment: { mobileMoney, amount: '1', currency: 'EUR' } }],
    ['mobileMoney.phoneNumber', { bank: undefined, userReference: undefined, mobileMoney: { phoneNumber: '12' } }],
  ])('is refused for its %s, by name and without the value, before anything is sent', async (member, wrong) => {
    const flow = await b.start('wrong', wrong);
    const { outcome } = await b.ended(flow);
    expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(outcome?.detail).toContain(`${member}: `);
    expect(outcome?.detail).not.toMatch(/DOGE|Kenya|10\.505|254712345678/);
    expect(await b.executed(flow.reference)).toEqual({ generated: 0, paid: 0 });
  });

  test('may have anything legal on the wire: a bank code as number or text, any network', async () => {
    const payment = { mobileMoney: { ...mobileMoney, providerNetwork: 'TNM' } };
    const flow = await b.start('legal', { bank: { ...bank, bankCode: 2500 }, payment });
    expect((await b.ended(flow)).state).toBe('completed');
  });
});
