import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CauseCode } from '../../src/protocol/causes.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import type { FlowReport } from '../../src/api/flow.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { ClaimKey } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { ended, noted, openDecisionBench, parked, READING_MS, resolve, startSend } from './bench.js';

const LONG = { deadlineSeconds: 360_000 };
const ACTOR = 'ada (unproven)';

const rejection = { httpStatus: 400, message: 'invalid reference', fields: [], isRateExpired: false };
const lost = () => new UnknownOutcomeError('sendCrypto', 'timeout');
const missing = () =>
  new RejectedError('getCryptoSend', { ...rejection, httpStatus: 404, isAboutReference: false, saysNoRecord: true });
const away = () => Promise.reject(new StoreUnavailableError('AWAY', 'database'));

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
let sent: string[] = [];
let looks = 0;
let answer: () => Error = lost;
let setting: Repeat = 'unknown';
beforeAll(async () => {
  decisions = await openDecisionBench(
    () => ({
      sendCrypto: async ({ referenceId }) => {
        sent.push(referenceId);
        throw answer();
      },
      getCryptoSend: async () => {
        looks += 1;
        throw missing();
      },
    }),
    { repeatSettingOf: () => setting },
  );
});
beforeEach(() => {
  sent = [];
  looks = 0;
  answer = lost;
  setting = 'unknown';
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const start = (word: string, more: Record<string, unknown> = LONG) => startSend(decisions.bench, word, more);
const claimOf = async ({ workflowId }: WorkflowHandle) => {
  const [claim] = await decisions.store.claims.ofFlow(workflowId);
  if (claim === undefined) throw new Error('no claim');
  return claim;
};
const ordersOf = async (handle: WorkflowHandle) => {
  const orders = await decisions.store.claims.orders(await claimOf(handle));
  return orders.map(({ action, actor, note }) => ({ action, actor, note }));
};
const refusedAs = (type: CauseCode, handle: WorkflowHandle, action: string) =>
  expect(resolve(handle, action)).rejects.toMatchObject({ cause: { type } });
const viewOf = async (handle: WorkflowHandle) => (await handle.query<FlowReport>('flow')).view;
const codesOf = async (handle: WorkflowHandle) => (await viewOf(handle)).timeline.map(({ code }) => code);

/** The late answer of the first send comes right before the store carries out the order. */
const answeredMeanwhile = () => {
  const { claims } = decisions.store;
  const real = { ...claims };
  const answered = async (key: ClaimKey) => void (await real.recordAnswer(key, { status: 'PENDING' }));
  jest.spyOn(claims, 'orderSendAgain').mockImplementation(async (key, ...more) => {
    await answered(key);
    return real.orderSendAgain(key, ...more);
  });
  jest.spyOn(claims, 'closeNotExecuted').mockImplementation(async (key, ...more) => {
    await answered(key);
    return real.closeNotExecuted(key, ...more);
  });
};

describe('an order to send again that the store does not confirm', () => {
  test('though it took it: it is taken back with an entry of the timeline, and a person is asked anew', async () => {
    const { reference, handle } = await start('taken');
    await parked(handle);
    const { claims } = decisions.store;
    const order = claims.orderSendAgain.bind(claims);
    const ordering = jest.spyOn(claims, 'orderSendAgain').mockImplementation(async (...given) => {
      await order(...given);
      return away();
    });
    await Promise.all([refusedAs('store_unavailable', handle, 'send-again'), decisions.bench.pass(READING_MS)]);
    await noted(handle, 'send-again-failed');
    ordering.mockRestore();
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    expect(sent).toEqual([reference]);
    expect((await claimOf(handle)).phase).toBe('sending');
    expect(await ordersOf(handle)).toMatchObject([
      { action: 'send-again', actor: ACTOR },
      { action: 'held-back', actor: ACTOR },
    ]);
    expect(await codesOf(handle)).not.toContain('may-still-send');
    expect(await codesOf(handle)).not.toContain('send-again-ordered');
    // It can be ordered once more.
    await resolve(handle, 'send-again');
    await until('it to be sent again', () => sent.length === 2);
    await handle.terminate();
  });

  test('and cannot take back either: the timeline warns of it, and it is tried until the store is back', async () => {
    const { handle } = await start('not-taken-back');
    await parked(handle);
    const { claims } = decisions.store;
    jest.spyOn(claims, 'orderSendAgain').mockImplementation(away);
    jest.spyOn(claims, 'recordDecision').mockImplementation(away);
    await Promise.all([refusedAs('store_unavailable', handle, 'send-again'), decisions.bench.pass(READING_MS)]);
    await decisions.bench.pass(READING_MS);
    await noted(handle, 'may-still-send');
    jest.restoreAllMocks();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'not_found_at_service');
    expect([sent.length, (await claimOf(handle)).phase]).toEqual([1, 'sending']);
    await handle.terminate();
  });

  test('since the answer of the first send has come meanwhile: nothing is taken back, and the flow follows it', async () => {
    const { handle } = await start('answered-again');
    await parked(handle);
    answeredMeanwhile();
    await refusedAs('claim_closed', handle, 'send-again');
    await noted(handle, 'accepted');
    expect(await codesOf(handle)).toContain('send-again-failed');
    expect([sent.length, await ordersOf(handle)]).toEqual([1, []]);
    await handle.terminate();
  });
});

test('an order to close a send as not executed whose answer has come meanwhile closes nothing: the flow follows it', async () => {
  const { handle } = await start('answered-closed');
  await parked(handle);
  answeredMeanwhile();
  await refusedAs('claim_closed', handle, 'close-not-executed');
  const { view } = await noted(handle, 'accepted');
  expect(view.outcome).toBeNull();
  expect(await codesOf(handle)).toContain('not-closed');
  expect((await claimOf(handle)).phase).toBe('answered');
  await handle.terminate();
});

describe('a send whose outcome is unknown', () => {
  test('is called refused if for the whole window it had nothing under the reference', async () => {
    answer = () => new RejectedError('sendCrypto', { ...rejection, isAboutReference: true });
    const { handle } = await start('refused');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
    expect((await claimOf(handle)).phase).toBe('rejected');
    expect(sent).toHaveLength(1);
  });

  test('ends as not executed if its claim was closed by another hand', async () => {
    const { handle } = await start('closed');
    await parked(handle);
    await decisions.store.claims.closeNotExecuted(await claimOf(handle), { actor: 'bob', note: 'seen in the bank' });
    await decisions.bench.pass(READING_MS);
    const { outcome } = await ended(handle);
    expect(outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
  });

  test('is not sent again by the setting if the inbox cannot be read, which may hold an event of it', async () => {
    setting = 'same-result';
    const reading = jest.spyOn(decisions.store.inbox, 'list');
    answer = () => {
      reading.mockImplementation(away);
      return lost();
    };
    const { handle } = await start('unread');
    await until('the inbox to be asked', () => reading.mock.calls.length > 0);
    await noted(handle, 'outcome-unknown');
    await decisions.bench.pass(READING_MS * 2);
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    // Nor later, once a person is asked: here after an order that is refused, when the inbox can be read again.
    const refused = expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    await decisions.bench.pass(READING_MS);
    await refused;
    reading.mockRestore();
    await decisions.bench.pass(READING_MS);
    await parked(handle);
    expect(sent).toHaveLength(1);
    await handle.terminate();
  });

  test('is asked about for the rest of its settle window after an event that cut it short was dismissed', async () => {
    const { handle } = await start('cut-short', { ...LONG, timeScale: 1 });
    await noted(handle, 'outcome-unknown');
    await handle.signal('events', [trusted('SUCCESSFUL', { facts: { cryptoAmount: '9' } })]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    // While a person is asked about the event, the service is not; a lookup that was under way may still begin.
    await decisions.bench.pass(3_000);
    const before = looks;
    await decisions.bench.pass(10_000);
    expect(looks).toBe(before);
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked === null);
    await decisions.bench.pass(30_000);
    expect(await viewOf(handle)).toMatchObject({ stage: 'outcome-unknown', parked: null });
    await decisions.bench.pass(240_000);
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    await handle.terminate();
  });

  test('is not looked up any more while a person is asked about an event of another payment that came later', async () => {
    const { handle } = await start('other-later');
    await parked(handle);
    await handle.signal('events', [trusted('SUCCESSFUL', { facts: { cryptoAmount: '9' } })]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    // A lookup that was under way may still begin.
    await decisions.bench.pass(READING_MS);
    const before = looks;
    await decisions.bench.pass(READING_MS);
    expect(looks).toBe(before);
    await handle.terminate();
  });

  test('is shown as one about which neither store nor service can be asked, if they cannot when a person orders', async () => {
    const { handle } = await start('all-away');
    await parked(handle);
    const { claims } = decisions.store;
    jest.spyOn(claims, 'closeNotExecuted').mockImplementation(away);
    jest.spyOn(claims, 'get').mockImplementation(away);
    await Promise.all([refusedAs('store_unavailable', handle, 'close-not-executed'), decisions.bench.pass(READING_MS)]);
    await decisions.bench.pass(READING_MS);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'could_not_ask');
    expect(view.parked?.evidence).toMatchObject({ claim: 'sending', asked: expect.any(String) });
    await handle.terminate();
  });
});
