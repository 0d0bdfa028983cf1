import { describe, expect, it } from '@jest/globals';
import { createInvoicePaidActivities, paidBeforeOurs, type PaidQuestion } from '../../activities/invoice-paid.js';
import { NotSentError, RejectedError } from '../../src/service-client/index.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const WINDOW_MS = 90_000;
const EXPECT = { paidAmount: '1000.50', paidCurrency: 'KES' };
const PAID = { status: 'SUCCESSFUL', amount: 1000.5, currency: 'KES' };
const refused = (httpStatus: number) => () =>
  Promise.reject(
    new RejectedError('getInvoicePayment', {
      httpStatus,
      message: 'no such invoice',
      fields: [],
      isRateExpired: false,
      isAboutReference: false,
      saysNoRecord: true,
    }),
  );
const notFound = refused(404);

/** Only "not paid" allows us to pay, or to say that nothing moved. */
describe('whether an invoice was paid in another way', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  interface Asked extends Partial<PaidQuestion> {
    /** Since the first try, ms. */
    readonly afterMs?: number;
    readonly missingAfterMs?: number;
  }
  const over = (answer: () => Promise<unknown>) => {
    const asked = { times: 0 };
    const getInvoicePayment = () => {
      asked.times += 1;
      return answer();
    };
    return { asked, deps: depsOver(store, { service: { getInvoicePayment } }) };
  };
  const ask = async (answer: () => Promise<unknown>, { afterMs = 0, missingAfterMs = 0, ...more }: Asked = {}) => {
    const { asked, deps } = over(answer);
    const question: PaidQuestion = {
      reference: newReference('paid'),
      expect: EXPECT,
      paidByEvent: false,
      patienceMs: 0,
      windowMs: WINDOW_MS,
      timeScale: 0.001,
      isParked: false,
      ...more,
    };
    const run = () => createInvoicePaidActivities(deps).whetherPaid(question);
    const found = await asActivity(run, afterMs, missingAfterMs).catch((thrown: unknown) => ({ thrown }));
    return { found, asked: asked.times };
  };
  const shows = (record: object, more?: Asked) => ask(async () => record, more).then(({ found }) => found);

  it.each<[string, object]>([
    ['in full', PAID],
    ['in full, in other digits', { ...PAID, amount: '1000.50' }],
    ['without an amount', { status: 'SUCCESSFUL', currency: 'KES' }],
    ['without a currency', { status: 'SUCCESSFUL', amount: 1000.5 }],
    ['and is on its way', { ...PAID, status: 'PROCESSING' }],
  ])('is shown by a payment %s', async (_, record) => {
    expect(await shows(record)).toMatchObject({ says: 'paid', reading: { status: (record as typeof PAID).status } });
  });

  it.each<[string, object, object]>([
    ['amount', { ...PAID, amount: 1000.51 }, { paidAmount: '1000.51' }],
    ['currency', { ...PAID, currency: 'UGX' }, { paidCurrency: 'UGX' }],
  ])('is shown by a payment of another %s, as another one', async (_, record, facts) => {
    expect(await shows(record)).toMatchObject({ says: 'other', reading: { facts } });
  });

  it('is compared with what is known of ours: any payment is another one if that is nothing', async () => {
    expect(await shows(PAID, { expect: {} })).toMatchObject({ says: 'other' });
    expect(await shows({ status: 'SUCCESSFUL', amount: 1000.5 }, { expect: {} })).toMatchObject({ says: 'other' });
  });

  it('is not known from a payment whose amount cannot be read', async () => {
    expect(await shows({ ...PAID, amount: {} })).toEqual({
      says: 'cannot-tell',
      why: "paidAmount of the service's record cannot be read",
    });
  });

  it('is not so by PENDING, if the invoice beside it does not say otherwise', async () => {
    expect(await shows({ status: 'PENDING' })).toEqual({ says: 'not-paid', reading: { status: 'PENDING', facts: {} } });
    expect(await shows({ status: 'PENDING', invoice: { status: 'OPEN' } })).toMatchObject({ says: 'not-paid' });
    expect(await shows({ status: 'PENDING', invoice: { status: 'PAID' } })).toEqual({
      says: 'cannot-tell',
      why: 'the payment is PENDING, and the invoice PAID',
    });
  });

  it.each([
    ['INITIATED', 'it is INITIATED'],
    ['DUPLICATE', 'it is DUPLICATE'],
    ['A_WORD_OF_LATER', 'it is A_WORD_OF_LATER'],
    [null, 'it is without a status'],
  ])('is not known from the word %s', async (status, why) => {
    expect(await shows({ status })).toEqual({ says: 'cannot-tell', why });
  });

  it('is not so by a failed attempt, unless ours is next: then that could be taken for ours', async () => {
    const failed = { ...PAID, status: 'FAILED' };
    expect(await shows(failed)).toMatchObject({ says: 'not-paid', reading: { status: 'FAILED' } });
    expect(await shows(failed, { beforeOurs: true })).toEqual({
      says: 'cannot-tell',
      why: expect.stringContaining('another attempt to pay it failed'),
    });
    const { deps } = over(async () => failed);
    const question = { reference: newReference('failed'), expect: EXPECT, timeScale: 0.001 };
    expect(await paidBeforeOurs(deps, question)).toMatchObject({ says: 'cannot-tell' });
  });

  it('is not so by three misses in a row at the end of the window, and by none before', async () => {
    expect(await ask(notFound, { afterMs: WINDOW_MS })).toEqual({ found: { says: 'not-paid' }, asked: 3 });
    const early = await ask(notFound, { afterMs: WINDOW_MS - 1 });
    expect(early).toEqual({
      found: { says: 'cannot-tell', why: 'the service does not show the invoice so far' },
      asked: 1,
    });
    // The window begins anew after an answer that was no miss.
    expect(await ask(notFound, { afterMs: WINDOW_MS, missingAfterMs: 1 })).toMatchObject({ asked: 1 });
  });

  it.each([2, 3])('is so if the service shows it at question %d, at the end of the window', async (shownAt) => {
    let times = 0;
    const answer = () => ((times += 1) < shownAt ? notFound() : Promise.resolve(PAID));
    expect(await ask(answer, { afterMs: WINDOW_MS })).toMatchObject({ found: { says: 'paid' }, asked: shownAt });
  });

  it('needs no window of its own right before our payment, whose flow has waited for it, but all misses', async () => {
    const { asked, deps } = over(notFound);
    const question = { reference: newReference('before'), expect: EXPECT, timeScale: 0.001 };
    expect(await paidBeforeOurs(deps, question)).toEqual({ says: 'not-paid' });
    expect(asked.times).toBe(3);
  });

  it('is not known from a refusal, nor from a service that is away', async () => {
    const { found } = await ask(refused(403), { afterMs: WINDOW_MS });
    expect(found).toEqual({ says: 'cannot-tell', why: 'the status lookup was refused (403)' });
    const away = new NotSentError('getInvoicePayment', 'refused');
    const { found: unreached } = await ask(() => Promise.reject(away), { afterMs: WINDOW_MS });
    expect(unreached).toEqual({ says: 'cannot-tell', why: away.message });
  });

  it('is asked again until the patience is over, and said to be unknown then', async () => {
    const unclear = { status: 'INITIATED' };
    const inTime = { patienceMs: 60_000, afterMs: 59_999, timeScale: 1 };
    const again = { type: 'not_yet', message: 'it is INITIATED', nextRetryDelay: 2_000 };
    expect(await shows(unclear, inTime)).toMatchObject({ thrown: again });
    expect(await shows(unclear, { ...inTime, isParked: true })).toMatchObject({ thrown: { nextRetryDelay: 15_000 } });
    expect(await shows(unclear, { ...inTime, afterMs: 60_000 })).toEqual({ says: 'cannot-tell', why: again.message });
    // What is known ends the wait at once.
    expect(await shows(PAID, inTime)).toMatchObject({ says: 'paid' });
    expect(await shows({ status: 'PENDING' }, inTime)).toMatchObject({ says: 'not-paid' });
  });

  it('is not denied by a lookup against a trusted event that says so', async () => {
    expect(await shows({ status: 'PENDING' }, { paidByEvent: true })).toMatchObject({
      says: 'cannot-tell',
      why: 'a trusted event says that it was paid, and the lookup does not',
      reading: { status: 'PENDING' },
    });
    expect(await shows(PAID, { paidByEvent: true })).toMatchObject({ says: 'paid' });
  });

  it.each<[string, readonly string[], string]>([
    ['says that it was paid', ['SUCCESSFUL'], 'cannot-tell'],
    ['cannot be read', [UNREADABLE], 'cannot-tell'],
    ['says so among others', ['PENDING', 'SUCCESSFUL'], 'cannot-tell'],
    ['says that an attempt failed', ['FAILED'], 'not-paid'],
    ['says PENDING', ['PENDING'], 'not-paid'],
  ])('is %3$s if a trusted event that belongs to no flow %1$s', async (_, words, says) => {
    const reference = newReference('no-flow');
    for (const status of words) {
      const { id } = await store.inbox.receive(
        anEvent({ source: 'webhook', flowId: null, reference, status, toMatch: true }),
      );
      await store.inbox.match(id, { flowId: null, reference, status });
    }
    const found = await shows({ status: 'PENDING' }, { reference });
    expect(found).toMatchObject({ says });
    if (says === 'cannot-tell') expect(found).toMatchObject({ why: expect.stringContaining('no known flow') });
    expect(await shows(PAID, { reference })).toMatchObject({ says: 'paid' });
  });
});
