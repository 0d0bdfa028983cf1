import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  RateLimitedError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { ended, inInbox, openDecisionBench, parked, READING_MS, resolve, startSend, TIME_SCALE } from './bench.js';

const HOUR_MS = 3_600_000;
const DEADLINE_SECONDS = 60_000;
const AT_DEADLINE_MS = DEADLINE_SECONDS * 1_000 * TIME_SCALE + 1_000;

describe('a POST that the service turned away in its own words', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** What comes of each POST, in turn; then it is answered as it was carried out. */
  let answers: Error[] = [];
  /** Whether the service carries out what it turns away. */
  let isExecuted = false;
  let sent = 0;
  /** How often the lookup still shows nothing. */
  let lags = 0;
  let lookups = 0;
  beforeAll(async () => {
    const post = async <T>(execute: () => Promise<T>): Promise<T> => {
      sent += 1;
      const error = answers.length > 1 ? answers.shift() : answers[0];
      if (error === undefined) return execute();
      if (isExecuted) await execute();
      throw error;
    };
    decisions = await openDecisionBench((service) => ({
      sendCrypto: (body) => post(() => service.sendCrypto(body)),
      createBankWithdrawal: (body) => post(() => service.createBankWithdrawal(body)),
      payInvoice: (body) => post(() => service.payInvoice(body)),
      getCryptoSend: async (reference) => {
        lookups += 1;
        if (lags === 0) return service.getCryptoSend(reference);
        lags -= 1;
        const none = {
          httpStatus: 404,
          message: 'Not found',
          fields: [],
          isRateExpired: false,
          isAboutReference: false,
        };
        throw new RejectedError('getCryptoSend', { ...none, saysNoRecord: true });
      },
    }));
  });
  beforeEach(() => {
    [answers, isExecuted, sent, lags, lookups] = [[], false, 0, 0, 0];
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const limited = (afterMs: number) => new RateLimitedError('sendCrypto', afterMs);
  const started = async (word: string) => {
    const { reference, handle } = await startSend(decisions.bench, word, { deadlineSeconds: DEADLINE_SECONDS });
    await until('the POST', () => sent > 0);
    const claim = async () => (await decisions.store.claims.ofFlow(handle.workflowId))[0];
    await until('its claim to be free again', async () => (await claim())?.phase === 'reserved');
    return { reference, handle, claim };
  };
  const followed = (handle: WorkflowHandle) =>
    untilFlow(handle, ({ view }) => view.stage === 'tracking' || view.outcome !== null);

  test.each([
    ['for its rate', limited(1)],
    ['for its token', new TurnedAwayError('sendCrypto')],
  ])('%s is sent once more, and executed once', async (_, error) => {
    answers = [error, undefined as never];
    const { reference, handle } = await startSend(decisions.bench, 'again', { deadlineSeconds: DEADLINE_SECONDS });
    await followed(handle);
    expect(sent).toBe(2);
    expect(await decisions.executions('sendCrypto', reference)).toBe(1);
    await handle.terminate();
  });

  test.each([
    ['shows it', 0],
    ['does not show it at first', 1],
    ['does not show it at first, nor the next time', 2],
  ])('and executed nevertheless is not sent again, but followed, if the lookup %s', async (_, misses) => {
    [answers, isExecuted, lags] = [[limited(1)], true, misses];
    const { reference, handle } = await startSend(decisions.bench, 'executed', { deadlineSeconds: DEADLINE_SECONDS });
    expect((await followed(handle)).view.outcome).toBeNull();
    expect(sent).toBe(1);
    expect(await decisions.executions('sendCrypto', reference)).toBe(1);
    await handle.terminate();
  });

  test('and executed nevertheless does not expire, although it waits to be sent again for longer than its deadline', async () => {
    [answers, isExecuted] = [[limited(HOUR_MS)], true];
    const { handle } = await started('overdue');
    // A lookup may lag: one that shows nothing is no proof.
    lags = 2;
    await decisions.bench.pass(AT_DEADLINE_MS);
    expect((await followed(handle)).view.outcome).toBeNull();
    expect(sent).toBe(1);
    await handle.terminate();
  });

  test('and executed nevertheless is not cancelled', async () => {
    [answers, isExecuted] = [[limited(HOUR_MS)], true];
    const { handle, claim } = await started('cancelled');
    const cancel = handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] });
    await expect(cancel).rejects.toMatchObject({ cause: { type: 'money_may_have_moved' } });
    expect((await claim())?.phase).toBe('answered');
    await handle.terminate();
  });

  test('and not executed expires at its deadline, once the lookup has shown nothing three times or more', async () => {
    answers = [limited(HOUR_MS)];
    const { handle, claim } = await started('expires');
    const before = lookups;
    await decisions.bench.pass(AT_DEADLINE_MS);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
    expect(lookups - before).toBeGreaterThanOrEqual(3);
    expect((await claim())?.phase).toBe('void');
  });

  test('and cannot be looked up at its deadline does not expire: a person is asked', async () => {
    answers = [limited(HOUR_MS)];
    const { handle } = await started('not-asked');
    const { service } = decisions.bench.deps;
    const lookUp = service.getCryptoSend;
    const refusal = { httpStatus: 403, message: 'no', fields: [], isRateExpired: false, isAboutReference: false };
    Object.assign(service, { getCryptoSend: () => Promise.reject(new RejectedError('getCryptoSend', refusal)) });
    await decisions.bench.pass(AT_DEADLINE_MS + READING_MS);
    const asked = (await parked(handle)).parked;
    expect(asked?.reason).toBe('could_not_ask');
    // A cancel that cannot be judged leaves the question as it stands.
    await Promise.all([
      expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toMatchObject({
        cause: { type: 'store_unavailable' },
      }),
      decisions.bench.pass(READING_MS),
    ]);
    expect((await parked(handle)).parked?.since).toBe(asked?.since);
    Object.assign(service, { getCryptoSend: lookUp });
    await handle.terminate();
  });

  const withdraw = async () => {
    const reference = newReference('no-lookup');
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: DEADLINE_SECONDS };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    await until('the POST', () => sent > 0);
    return handle;
  };

  test('and has no lookup expires at its deadline, when the service turned every POST away', async () => {
    answers = [limited(HOUR_MS)];
    const handle = await withdraw();
    await decisions.bench.pass(AT_DEADLINE_MS);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'expired' });
  });

  test('and has no lookup parks, if another answer to it was not of the service', async () => {
    answers = [limited(1), new UnknownOutcomeError('createBankWithdrawal', 'http-status', 429)];
    const handle = await withdraw();
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    expect(sent).toBe(2);
    await handle.terminate();
  });

  test('and has no lookup is not sent again once an untrusted event reports it: a person is asked, and may order it', async () => {
    answers = [limited(60_000), undefined as never];
    const handle = await withdraw();
    const [claim] = await decisions.store.claims.ofFlow(handle.workflowId);
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL', { proof: null });
    await decisions.bench.pass(61_000);
    const view = await parked(handle);
    expect(view.parked?.reason).toBe('unknown_outcome');
    expect(view.parked?.actions).toContain('send-again');
    expect([sent, claim?.turnedAway]).toEqual([1, 1]);
    await resolve(handle, 'send-again');
    await until('the POST that was ordered', () => sent === 2);
    await handle.terminate();
  });

  const pay = async () => {
    const reference = newReference('invoice');
    const money = { currency: 'KES', amount: '1000.50', bank, payment: { mobileMoney } };
    const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds: DEADLINE_SECONDS };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await until('the POST', () => sent > 0);
    return { reference, handle };
  };

  test.each([
    ['and not executed', false],
    ['and executed nevertheless', true],
  ])(
    '%s does not expire at its deadline if it would pay an invoice, nor is it sent after that: PENDING is shown before a payment, too',
    async (_, executed) => {
      [answers, isExecuted] = [[limited(AT_DEADLINE_MS + 60_000)], executed];
      const { reference, handle } = await pay();
      await decisions.bench.control('POST', '/scenarios', { reference, ending: 'never', operation: 'payInvoice' });
      await decisions.bench.pass(AT_DEADLINE_MS);
      const { parked: asked } = await untilFlow(
        handle,
        ({ view }) => view.parked?.evidence['asked'] !== undefined,
      ).then(({ view }) => view);
      expect(asked).toMatchObject({ reason: 'unknown_outcome', evidence: { why: expect.any(String) } });
      await decisions.bench.pass(120_000);
      expect(sent).toBe(1);
      expect(await resolve(handle, 'close-not-executed')).toEqual({ accepted: true });
      expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    },
  );
});
