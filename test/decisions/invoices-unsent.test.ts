import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { RejectedError, ServiceUnavailableError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Invoice, InvoicePayment } from '../../src/contract/invoice.js';
import { ACCOUNT } from '../harness/fixed.js';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import { labelCallback } from '../../src/gateway/inbound/match-webhook.js';
import { anEvent } from '../store/temporary-store.js';
import { ended, entriesOf, gate, noted, openDecisionBench, parked, resolve, stoppable, TIME_SCALE } from './bench.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';

const HOUR_MS = 3_600_000;
const bank = { accountName: 'Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' };
const mobileMoney = { accountName: 'Payer', phoneNumber: '+254712345678', providerNetwork: 'MPESA' };

/** The answer of the payment's lookup; undefined: the sandbox's. */
let answer: (() => Promise<InvoicePayment>) | undefined;
/** The customer pays on the invoice's own page, and no webhook reports it. */
const paid = () =>
  Promise.resolve({ referenceId: 'r', status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' } as InvoicePayment);
const refused = () => {
  const refusal = { httpStatus: 403, fields: [], isRateExpired: false, isAboutReference: false };
  return Promise.reject<InvoicePayment>(new RejectedError('getInvoicePayment', refusal));
};

/** The service knows of no payment: its own "not found". */
const noPayment = () => {
  const refusal = { httpStatus: 404, fields: [], isRateExpired: false, isAboutReference: false, saysNoRecord: true };
  return Promise.reject<InvoicePayment>(new RejectedError('getInvoicePayment', refusal));
};

/** The answer that an invoice exists is lost. */
let isGenerationLost = false;
/** The answer of the invoice's own lookup; undefined: the sandbox's. */
let invoice: (() => Promise<Invoice>) | undefined;
const noInvoice =
  (httpStatus: number, more = {}) =>
  () => {
    const refusal = { httpStatus, fields: [], isRateExpired: false, isAboutReference: false, ...more };
    return Promise.reject<Invoice>(new RejectedError('getInvoice', refusal));
  };
const showsOnly = (shown: Record<string, unknown>) => () =>
  Promise.resolve({ referenceId: 'r', invoice: shown } as unknown as Invoice);

describe('an invoice whose payment by us waits to be sent', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let money: ReturnType<typeof stoppable>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async createInvoice(body, options) {
        const created = await service.createInvoice(body, options);
        if (isGenerationLost) throw new UnknownOutcomeError('createInvoice', 'timeout');
        return created;
      },
      async getInvoice(reference) {
        return invoice === undefined ? service.getInvoice(reference) : invoice();
      },
      async getInvoicePayment(reference) {
        return answer === undefined ? service.getInvoicePayment(reference) : answer();
      },
    }));
    money = stoppable(decisions, 'payInvoice');
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = async (word: string, more: Record<string, unknown>) => {
    answer = undefined;
    const reference = newReference(word);
    const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, timeScale: TIME_SCALE, ...more };
    return { reference, handle: await decisions.bench.startFlow('invoice-payment', reference, input) };
  };
  const TO_BE_PAID = { payment: { mobileMoney }, deadlineSeconds: 1_800_000 };
  /** The lookup has said "not paid", and one attempt waits. */
  const waiting = async (word: string, more = {}) => {
    money.stop();
    const { reference, handle } = await start(word, { ...TO_BE_PAID, ...more });
    await until('the payment to be tried', async () => money.waiting.has(reference));
    return { reference, handle };
  };
  const expectFollowed = async ({ reference, handle }: { reference: string; handle: WorkflowHandle }) => {
    const view = await ended(handle);
    expect(view.state).toBe('completed');
    expect(entriesOf(view, 'paid-elsewhere')).toHaveLength(1);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  };

  test('is paid after a cancel that was refused, since a webhook was still being matched', async () => {
    money.goOn();
    invoice = () => Promise.reject(new ServiceUnavailableError('getInvoice', 'http-status', 503));
    const { reference, handle } = await start('cancel-refused', TO_BE_PAID);
    await noted(handle, 'accepted');
    const { inbox } = decisions.store;
    const webhook = { source: 'webhook', reference, status: null, proof: 'signature', body: {}, flowId: null } as const;
    await inbox.receive({ ...webhook, id: reference, contentHash: reference, toMatch: true });
    const cancel = handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] }).catch((error: Error) => error.cause);
    await decisions.bench.pass(60_000);
    expect(await cancel).toMatchObject({ type: 'store_unavailable' });
    await inbox.match(reference, webhook);
    invoice = undefined;
    await decisions.bench.pass(60_000);
    await until('the payment', async () => (await decisions.executions('payInvoice', reference)) === 1, 10_000);
  });

  /** The invoice exists, is to be paid at once, and cannot be compared with what was asked for. */
  const unread = async (word: string, answers: () => Promise<Invoice>) => {
    money.goOn();
    invoice = answers;
    const { reference, handle } = await start(word, TO_BE_PAID);
    await noted(handle, isGenerationLost ? 'outcome-unknown' : 'reading-invoice');
    return { reference, handle };
  };

  test.each([
    ['refuses to show it (403)', noInvoice(403)],
    ['refuses to show it (404 of another part)', noInvoice(404)],
    ['does not know it yet', noInvoice(404, { saysNoRecord: true })],
    ['shows it without its amount', showsOnly({ currency: 'KES' })],
    ['shows it with an amount that cannot be read', showsOnly({ amount: undefined, currency: 'KES' })],
  ])('is not paid while the service %s, and is paid once it shows the one that was asked for', async (_, answers) => {
    const { reference, handle } = await unread('unread', answers);
    await decisions.bench.pass(HOUR_MS);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    expect((await noted(handle, 'reading-invoice')).view.parked).toBeNull();
    invoice = undefined;
    await decisions.bench.pass(60_000);
    await noted(handle, 'accepted', '', 2);
    expect(await decisions.executions('payInvoice', reference)).toBe(1);
    await handle.terminate();
  });

  test('is not paid if the service shows another one at last: it parks with both sides', async () => {
    const { reference, handle } = await unread('another', noInvoice(403));
    invoice = showsOnly({ amount: 9, currency: 'KES' });
    await decisions.bench.pass(60_000);
    const { parked: question } = await parked(handle);
    expect(question).toMatchObject({ reason: 'duplicate_mismatch', evidence: { theirs: { amount: '9' } } });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    await handle.terminate();
    invoice = undefined;
  });

  /** As the gateway files it: its status is there, and cannot be read. */
  const unreadWebhook = async (reference: string) => {
    const flowId = `invoice-payment/${reference}`;
    const data = { referenceId: reference, status: { code: 'SUCCESSFUL' } };
    const body = { event: 'transaction.status.updated', data };
    const labels = labelCallback('invoice-payment', reference, flowId, body);
    const { id } = await decisions.store.inbox.receive(anEvent({ ...labels, source: 'webhook', body }));
    const row = await decisions.store.inbox.get(id);
    return eventOfRow(flowId, row!);
  };

  /** The invoice exists, and its payment is not ordered yet. */
  const unordered = async (word: string, deadlineSeconds: number) => {
    money.goOn();
    const flow = await start(word, { deadlineSeconds });
    await noted(flow.handle, 'awaiting-payment');
    return flow;
  };

  test.each(['dismiss-event', 'accept-event'])(
    'is not paid after a trusted event whose status cannot be read, before a person orders %s',
    async (action) => {
      const { reference, handle } = await unordered(action, 60_000);
      await handle.signal('events', [await unreadWebhook(reference)]);
      const paying = handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
      expect((await parked(handle)).parked).toMatchObject({
        reason: 'event_mismatch',
        evidence: { differs: ['body'] },
      });
      expect(await decisions.executions('payInvoice', reference)).toBe(0);
      expect(await paying).toEqual({ kind: 'none', reason: 'event_mismatch' });
      await resolve(handle, action);
      await noted(handle, 'accepted', '', 2);
      expect(await decisions.executions('payInvoice', reference)).toBe(1);
      await handle.terminate();
    },
  );

  test('is cancelled although the service knows of no payment, once it has said so for the whole window', async () => {
    const { handle } = await unordered('cancel-missing', 60_000);
    answer = noPayment;
    const cancel = handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    await decisions.bench.pass(120_000);
    await cancel;
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });

  test('expires at its deadline although the service knows of no payment, and no person is asked', async () => {
    const { handle } = await unordered('expire-missing', 60_000);
    answer = noPayment;
    await decisions.bench.pass(601_000);
    const view = await ended(handle);
    expect(view).toMatchObject({ state: 'expired' });
    expect(entriesOf(view, 'parked')).toEqual([]);
  });

  test('is not paid after such an event that came while it was not known whether the invoice exists', async () => {
    isGenerationLost = true;
    const { reference, handle } = await unread('lost', () =>
      Promise.reject(new ServiceUnavailableError('getInvoice', 'http-status', 503)),
    );
    await handle.signal('events', [trusted('', { source: 'webhook', status: null, facts: { body: UNREADABLE } })]);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'event_mismatch', evidence: { differs: ['body'] } });
    isGenerationLost = false;
    invoice = undefined;
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    await handle.terminate();
  });

  test('is not closed by a lookup from before a person looked into such an event: it may be paid since', async () => {
    const { reference, handle } = await unread('closed', showsOnly({ amount: 9, currency: 'KES' }));
    expect((await parked(handle)).parked?.reason).toBe('duplicate_mismatch');
    const held = gate();
    let isAsked = false;
    answer = async () => {
      isAsked = true;
      await held.opened;
      return { referenceId: reference, status: 'PENDING' };
    };
    const closing = expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    await until('the lookup', async () => isAsked);
    await handle.signal('events', [trusted('', { source: 'webhook', status: null, facts: { body: UNREADABLE } })]);
    held.open();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    [answer, invoice] = [paid, undefined];
    await closing;
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'duplicate_mismatch');
    // Ordered again, it is looked up again.
    await expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'conflict');
    await handle.terminate();
  });

  test('is not paid by an attempt that comes long after the lookup found "not paid": it is looked up again', async () => {
    const flow = await waiting('waited');
    answer = paid;
    money.goOn();
    await decisions.bench.pass(HOUR_MS);
    await expectFollowed(flow);
  });

  test('is not paid by an attempt that comes after a trusted event that cannot be read, though the lookup finds "not paid"', async () => {
    const flow = await waiting('unread-meanwhile');
    await unreadWebhook(flow.reference);
    money.goOn();
    await decisions.bench.pass(HOUR_MS);
    expect((await parked(flow.handle)).parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['body'] },
    });
    answer = paid;
    await resolve(flow.handle, 'dismiss-event');
    await decisions.bench.pass(HOUR_MS);
    expect((await ended(flow.handle)).state).toBe('completed');
    expect(await decisions.executions('payInvoice', flow.reference)).toBe(0);
  });

  test('is not paid while the lookup cannot tell whether it was meanwhile, and once it finds "not paid"', async () => {
    const { reference, handle } = await waiting('cannot-tell');
    answer = refused;
    money.goOn();
    await decisions.bench.pass(300_000);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    answer = undefined;
    await decisions.bench.pass(60_000);
    await noted(handle, 'accepted', '', 2);
    expect(await decisions.executions('payInvoice', reference)).toBe(1);
    await handle.terminate();
  });

  test('is not cancelled if it was paid by its page: that payment is followed', async () => {
    const flow = await waiting('cancelled');
    answer = paid;
    await expect(flow.handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    money.goOn();
    await decisions.bench.pass(HOUR_MS);
    await expectFollowed(flow);
  });

  test('is cancelled by a cancel that was refused while the store did not answer, if the store then carried it out', async () => {
    const { reference, handle } = await waiting('late-void');
    const { claims } = decisions.store;
    const write = claims.voidAll.bind(claims);
    let answer = () => undefined as void;
    const answers = new Promise<void>((resolve) => (answer = resolve));
    // Whichever attempt asks it: time is skipped, so that the first one sends no heartbeat.
    const slow = jest.spyOn(claims, 'voidAll').mockImplementation(async (...order) => {
      await answers;
      return write(...order);
    });
    const cancel = handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] }).catch((error: Error) => error.cause);
    await until('the store to be asked', async () => slow.mock.calls.length > 0);
    expect(await cancel).toMatchObject({ type: 'store_unavailable' });
    answer();
    const key = { account: ACCOUNT, operation: 'payInvoice', reference };
    await until('the claim to be void', async () => (await claims.get(key))?.phase === 'void');
    slow.mockRestore();
    money.goOn();
    await decisions.bench.pass(HOUR_MS);
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });

  /** Orders to pay while no order can be recorded. */
  const ordered = async (word: string, deadlineSeconds: number) => {
    const { reference, handle } = await unordered(word, deadlineSeconds);
    const away = jest.spyOn(decisions.store.audit, 'append').mockImplementation(() => {
      throw new StoreUnavailableError('SQLITE_BUSY', 'database');
    });
    const paying = handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
    const answered = paying.then(
      (said) => said,
      (error: Error) => error.cause,
    );
    await until('the order to be tried', async () => away.mock.calls.length > 0);
    return { reference, handle, answered, away };
  };

  test('is paid by an order that could not be recorded for minutes: it waits, and is refused by none', async () => {
    const { reference, handle, answered, away } = await ordered('ordered', 1_800_000);
    await decisions.bench.pass(600_000);
    away.mockRestore();
    await decisions.bench.pass(60_000);
    expect(await answered).toMatchObject({ kind: 'accepted' });
    expect(await decisions.executions('payInvoice', reference)).toBe(1);
    await handle.terminate();
  });

  test('expires under an order that could never be recorded, and its update is refused', async () => {
    const { handle, answered, away } = await ordered('ordered-late', 60_000);
    await decisions.bench.pass(601_000);
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
    expect(await answered).toMatchObject({ type: 'flow_ended' });
    away.mockRestore();
  });

  test.each([
    ['it was paid by its page', paid, null],
    ['the service cannot say whether it was paid', refused, 'payment_unclear'],
  ])('does not expire where %s', async (_, answers, parksAs) => {
    const flow = await waiting('expires', { deadlineSeconds: 1_000 });
    answer = answers;
    await decisions.bench.pass(1_000 * 1_000 * TIME_SCALE);
    if (parksAs !== null) {
      expect((await parked(flow.handle)).parked?.reason).toBe(parksAs);
      answer = paid;
    }
    money.goOn();
    await expectFollowed(flow);
  });
});
