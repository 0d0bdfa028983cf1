import { describe, expect, it } from '@jest/globals';
import { createInvoicePaidActivities, paidBeforeOurs, type PaidQuestion } from '../../activities/invoice-paid.js';
import { NotSentError, RejectedError } from '../../src/service-client/index.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const WINDOW_MS = 90_000;
const EXPECT = { paidAmount: '1000.5', paidCurrency: 'KES' };
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
/** `why` is a sentence for a person. */
const unknown = { says: 'cannot-tell', why: expect.any(String) };

/** Only "not paid" allows us to pay, or to say that nothing moved. */
describe('whetherPaid', () => {
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
  ])('returns paid for a payment %s', async (_, record) => {
    expect(await shows(record)).toMatchObject({ says: 'paid', reading: { status: (record as typeof PAID).status } });
  });

  it.each<[string, object, object]>([
    ['amount', { ...PAID, amount: 1000.51 }, { paidAmount: '1000.51' }],
    ['currency', { ...PAID, currency: 'UGX' }, { paidCurrency: 'UGX' }],
  ])('returns other for a payment of another %s', async (_, record, facts) => {
    expect(await shows(record)).toMatchObject({ says: 'other', reading: { facts } });
  });

  it('returns other for any payment if nothing is known of ours', async () => {
    expect(await shows(PAID, { expect: {} })).toMatchObject({ says: 'other' });
    expect(await shows({ status: 'SUCCESSFUL', amount: 1000.5 }, { expect: {} })).toMatchObject({ says: 'other' });
  });

  it('returns cannot-tell for a payment whose amount cannot be read', async () => {
    expect(await shows({ ...PAID, amount: {} })).toEqual(unknown);
  });

  it('returns not-paid for PENDING, unless the invoice in the record is PAID', async () => {
    expect(await shows({ status: 'PENDING' })).toEqual({ says: 'not-paid', reading: { status: 'PENDING', facts: {} } });
    expect(await shows({ status: 'PENDING', invoice: { status: 'OPEN' } })).toMatchObject({ says: 'not-paid' });
    expect(await shows({ status: 'PENDING', invoice: { status: 'PAID' } })).toEqual(unknown);
  });

  it.each(['INITIATED', 'DUPLICATE', 'A_WORD_OF_LATER', null])(
    'returns cannot-tell for a payment with the status %s',
    async (status) => {
      expect(await shows({ status })).toEqual(unknown);
    },
  );

  it('returns not-paid for a failed attempt, and cannot-tell right before ours, for which that could be taken', async () => {
    const failed = { ...PAID, status: 'FAILED' };
    expect(await shows(failed)).toMatchObject({ says: 'not-paid', reading: { status: 'FAILED' } });
    expect(await shows(failed, { beforeOurs: true })).toEqual(unknown);
    const { deps } = over(async () => failed);
    const question = { reference: newReference('failed'), expect: EXPECT, timeScale: 0.001 };
    expect(await paidBeforeOurs(deps, question)).toMatchObject({ says: 'cannot-tell' });
  });

  it('returns not-paid after three misses in a row at the end of the window, and none before', async () => {
    expect(await ask(notFound, { afterMs: WINDOW_MS })).toEqual({ found: { says: 'not-paid' }, asked: 3 });
    const early = await ask(notFound, { afterMs: WINDOW_MS - 1 });
    expect(early).toEqual({ found: unknown, asked: 1 });
    // The window begins anew after an answer that was no miss.
    expect(await ask(notFound, { afterMs: WINDOW_MS, missingAfterMs: 1 })).toMatchObject({ asked: 1 });
  });

  it.each([2, 3])('returns paid if the service shows it at question %d, at the end of the window', async (shownAt) => {
    let times = 0;
    const answer = () => ((times += 1) < shownAt ? notFound() : Promise.resolve(PAID));
    expect(await ask(answer, { afterMs: WINDOW_MS })).toMatchObject({ found: { says: 'paid' }, asked: shownAt });
  });

  it('needs no window, but three misses, right before our payment', async () => {
    const { asked, deps } = over(notFound);
    const question = { reference: newReference('before'), expect: EXPECT, timeScale: 0.001 };
    expect(await paidBeforeOurs(deps, question)).toEqual({ says: 'not-paid' });
    expect(asked.times).toBe(3);
  });

  it('returns cannot-tell after a refused lookup, and while the service is away', async () => {
    const { found } = await ask(refused(403), { afterMs: WINDOW_MS });
    expect(found).toEqual(unknown);
    const away = new NotSentError('getInvoicePayment', 'refused');
    const { found: unreached } = await ask(() => Promise.reject(away), { afterMs: WINDOW_MS });
    expect(unreached).toEqual(unknown);
  });

  it('fails as not_yet until the patience is over, and returns cannot-tell then', async () => {
    const unclear = { status: 'INITIATED' };
    const inTime = { patienceMs: 60_000, afterMs: 59_999, timeScale: 1 };
    const again = { type: 'not_yet', nextRetryDelay: 2_000 };
    expect(await shows(unclear, inTime)).toMatchObject({ thrown: again });
    expect(await shows(unclear, { ...inTime, isParked: true })).toMatchObject({ thrown: { nextRetryDelay: 15_000 } });
    expect(await shows(unclear, { ...inTime, afterMs: 60_000 })).toEqual(unknown);
    // What is known ends the wait at once.
    expect(await shows(PAID, inTime)).toMatchObject({ says: 'paid' });
    expect(await shows({ status: 'PENDING' }, inTime)).toMatchObject({ says: 'not-paid' });
  });

  it('returns cannot-tell for a lookup that shows no payment against a trusted event that does', async () => {
    expect(await shows({ status: 'PENDING' }, { paidByEvent: true })).toMatchObject({
      says: 'cannot-tell',
      reading: { status: 'PENDING' },
    });
    expect(await shows(PAID, { paidByEvent: true })).toMatchObject({ says: 'paid' });
  });

  it.each<[string, string, readonly string[]]>([
    ['cannot-tell', 'says SUCCESSFUL', ['SUCCESSFUL']],
    ['cannot-tell', 'cannot be read', [UNREADABLE]],
    ['cannot-tell', 'says SUCCESSFUL, after one that says PENDING', ['PENDING', 'SUCCESSFUL']],
    ['not-paid', 'says FAILED', ['FAILED']],
    ['not-paid', 'says PENDING', ['PENDING']],
  ])('returns %s if a trusted event of no flow %s', async (says, _, words) => {
    const reference = newReference('no-flow');
    for (const status of words) {
      const { id } = await store.inbox.receive(
        anEvent({ source: 'webhook', flowId: null, reference, status, toMatch: true }),
      );
      await store.inbox.match(id, { flowId: null, reference, status });
    }
    const found = await shows({ status: 'PENDING' }, { reference });
    expect(found).toMatchObject({ says });
    expect(await shows(PAID, { reference })).toMatchObject({ says: 'paid' });
  });
});
