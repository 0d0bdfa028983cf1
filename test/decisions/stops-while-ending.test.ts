import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { NotSentError } from '../../src/service-client/index.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import kycCheck from '../kinds/kyc-check.js';
import {
  ended,
  gate,
  holdReadings,
  entriesOf,
  noted,
  openDecisionBench,
  parked,
  refused,
  resolve,
  startSend,
  TIME_SCALE,
} from './bench.js';

const BY = { actor: 'ann' };

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
/** Why the service takes no crypto send. */
const limited = async (): Promise<Error> => refused('sendCrypto');
let whyNotTaken = limited;
/** What the lookup of an invoice's payment waits for. */
let whetherPaid = () => Promise.resolve();
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    getInvoicePayment: async (reference) => {
      await whetherPaid();
      return service.getInvoicePayment(reference);
    },
    sendCrypto: async () => {
      throw await whyNotTaken();
    },
  }));
});
afterEach(() => {
  whyNotTaken = limited;
  whetherPaid = () => Promise.resolve();
  jest.restoreAllMocks();
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

describe('a cancel while a payment is about to end otherwise', () => {
  const cancel = { args: [BY] as [unknown] };

  /** As by a stop of an earlier run of the flow. */
  const voidedBeforeNextAttempt = () => {
    const { claims } = decisions.store;
    const reserve = claims.reserve.bind(claims);
    jest.spyOn(claims, 'reserve').mockImplementationOnce(async (key, ask, ...more) => {
      const { flowId, fingerprint } = ask;
      await claims.voidUnsent(key, { flowId, fingerprint }, 'expired');
      return reserve(key, ask, ...more);
    });
  };

  test('is refused once its POST was refused, and the flow follows what an event proves before it has ended', async () => {
    const readings = holdReadings(decisions, 1);
    const { handle } = await startSend(decisions.bench, 'refused');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    await expect(handle.executeUpdate('cancel', cancel)).rejects.toMatchObject({
      cause: { type: 'money_may_have_moved' },
    });
    await handle.signal('events', [trusted('SUCCESSFUL')]);
    await untilFlow(handle, ({ events }) => Object.keys(events).length === 1);
    readings.letGo(0);
    expect((await noted(handle, 'proven')).view.outcome).toBeNull();
    await handle.terminate();
  });

  test('ends the flow as cancelled once it was promised, although its claim was found void before', async () => {
    const { claims } = decisions.store;
    voidedBeforeNextAttempt();
    const readings = holdReadings(decisions, 1);
    const { handle } = await startSend(decisions.bench, 'promised');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    const voids = jest.spyOn(claims, 'voidAll');
    const promised = handle.executeUpdate('cancel', cancel);
    await until('the claim to be voided once more', () => voids.mock.calls.length > 0);
    readings.letGo(0);
    expect(await promised).toEqual({ cancelled: true });
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
    await handle.result().catch(() => undefined);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    const [entry] = await decisions.store.audit.list({ flowId: handle.workflowId, kind: 'order', limit: 1 });
    expect(entry).toMatchObject({ action: 'cancel', actor: expect.stringContaining('ann') });
  });

  test('is refused while the POST is under way, and the flow ends as failed, not as cancelled, when its claim is void later', async () => {
    const underWay = gate();
    let isBegun = false;
    whyNotTaken = async () => {
      isBegun = true;
      await underWay.opened;
      return new NotSentError('sendCrypto', 'refused');
    };
    const { handle } = await startSend(decisions.bench, 'under-way');
    await until('its POST to be under way', () => isBegun);
    await expect(handle.executeUpdate('cancel', cancel)).rejects.toMatchObject({
      cause: { type: 'money_may_have_moved' },
    });
    voidedBeforeNextAttempt();
    underWay.open();
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
  });
});

describe('an order to mark a parked flow as completed', () => {
  test('is carried out, and a cancel that comes while it is being carried out is refused', async () => {
    const reference = newReference('marked');
    const input = { ...kycCheck.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 6_000 };
    const handle = await decisions.bench.startFlow('kyc-check', reference, input);
    await decisions.bench.pass(6_000 * 1_000 * TIME_SCALE);
    await parked(handle);
    const readings = holdReadings(decisions, 1);
    const marked = resolve(handle, 'mark-completed');
    await until('the order to be judged', () => readings.begun() === 1);
    const cancelled = handle.executeUpdate('cancel', { args: [BY] });
    readings.letGo(0);
    expect(await marked).toEqual({ accepted: true });
    await expect(cancelled).rejects.toMatchObject({ cause: { type: 'flow_ended' } });
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });
});

describe('a cancel while an invoice is about to be paid by order', () => {
  test('is carried out, and no entry of the timeline after it is of a send', async () => {
    const reference = newReference('about-to-pay');
    const money = { currency: 'KES', amount: '1000.50', bank };
    const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await noted(handle, 'awaiting-payment');
    const looked = gate();
    let isLooking = false;
    whetherPaid = async () => {
      isLooking = true;
      await looked.opened;
    };
    const paid = handle.executeUpdate('pay', { args: [{ ...BY, mobileMoney }] });
    await until('the flow to ask whether it was paid', () => isLooking);
    const cancelled = handle.executeUpdate('cancel', { args: [BY] });
    await until('the cancel to be recorded', async () => {
      const orders = await decisions.store.audit.list({ flowId: handle.workflowId, kind: 'order', limit: 10 });
      return orders.some(({ action }) => action === 'cancel');
    });
    await untilFlow(handle, () => true);
    looked.open();
    expect(await cancelled).toEqual({ cancelled: true });
    expect(await paid).toEqual({ kind: 'none', reason: 'cancelled_before_sending' });
    const view = await ended(handle);
    expect(view.state).toBe('cancelled');
    // That of the invoice.
    expect(entriesOf(view, 'sending')).toHaveLength(1);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  });
});
