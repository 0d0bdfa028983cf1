import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { OperationName } from '../../src/contract/index.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { RejectedError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { ACCOUNT } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import bankCheckout from '../kinds/bank-checkout.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import offramp from '../kinds/offramp.js';
import { ended, inInbox, noted, openDecisionBench, parked, refused, startSend, TIME_SCALE } from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
const away = () => Promise.reject(new StoreUnavailableError('SQLITE_BUSY', 'file'));

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
/** What the service answers instead of the sandbox. */
let answer: Partial<Record<OperationName, (body: { referenceId?: string | undefined }) => Promise<unknown>>> = {};
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    sendCrypto: async (body) => (answer.sendCrypto?.(body) ?? service.sendCrypto(body)) as never,
    createOfframp: async (body) => (answer.createOfframp?.(body) ?? service.createOfframp(body)) as never,
    createBankCheckout: async (body) => (answer.createBankCheckout?.(body) ?? service.createBankCheckout(body)) as never, // prettier-ignore
    createBankWithdrawal: async (body) => (answer.createBankWithdrawal?.(body) ?? service.createBankWithdrawal(body)) as never, // prettier-ignore
  }));
});
afterEach(() => {
  jest.restoreAllMocks();
  answer = {};
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const claimOf = async (flowId: string) => (await decisions.store.claims.ofFlow(flowId))[0];
const answerOf = (handle: { executeUpdate(name: string): Promise<unknown> }) => handle.executeUpdate('answer');

describe('a result that could not be written to its claim when it came', () => {
  test('is written by the flow, if it is an answer', async () => {
    jest.spyOn(decisions.store.claims, 'recordAnswer').mockImplementationOnce(away);
    const { handle } = await startSend(decisions.bench, 'unwritten', LONG);
    await noted(handle, 'accepted');
    await until('its claim to be answered', async () => (await claimOf(handle.workflowId))?.phase === 'answered');
    const claim = await claimOf(handle.workflowId);
    expect(claim).toMatchObject({ phase: 'answered', answer: expect.objectContaining({ status: expect.any(String) }) });
    await handle.terminate();
  });

  test('is written by the flow, if it is a refusal, and the caller gets that', async () => {
    const refusals: unknown[] = [];
    const { claims } = decisions.store;
    const recordRejection = claims.recordRejection.bind(claims);
    jest.spyOn(claims, 'recordRejection').mockImplementation(async (...given) => {
      refusals.push(given[2]);
      return refusals.length === 1 ? away() : recordRejection(...given);
    });
    answer = { sendCrypto: () => Promise.reject(refused('sendCrypto')) };
    const { handle } = await startSend(decisions.bench, 'unwritten', LONG);
    const rejection = { httpStatus: 400, message: 'limit' };
    expect(await answerOf(handle)).toEqual({ kind: 'rejected', ...rejection, code: null });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
    expect(refusals).toEqual([rejection, rejection]);
    expect(await claimOf(handle.workflowId)).toMatchObject({ phase: 'rejected', rejection });
  });

  test('is the code of a refusal, too', async () => {
    answer = {
      sendCrypto: () => {
        const given = { httpStatus: 422, message: 'too little', code: 'E7', fields: [] };
        return Promise.reject(new RejectedError('sendCrypto', { ...given, isRateExpired: false, isAboutReference: false })); // prettier-ignore
      },
    };
    const { handle } = await startSend(decisions.bench, 'coded', LONG);
    expect(await answerOf(handle)).toEqual({ kind: 'rejected', httpStatus: 422, message: 'too little', code: 'E7' });
  });
});

describe('a POST that is not sent', () => {
  test('under the reference of another request: its flow fails with other_request_same_reference, and there is no answer', async () => {
    const reference = newReference('other');
    const key = { account: ACCOUNT, operation: 'createBankWithdrawal', reference };
    await decisions.store.claims.reserve(key, { owner: 'earlier', flowId: 'x', fingerprint: 'of another request' });
    const input = { ...bankWithdrawal.input(reference), ...LONG };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    expect(await answerOf(handle)).toEqual({ kind: 'none', reason: 'other_request_same_reference' });
    expect((await ended(handle)).outcome).toMatchObject({
      state: 'failed',
      reason: 'other_request_same_reference',
    });
    expect(await decisions.executions('createBankWithdrawal', reference)).toBe(0);
  });

  /** Its claim is voided by another process right before it would be sent. */
  const voidFirst = (then: (reference: string) => Promise<unknown> = async () => undefined) => {
    const { claims } = decisions.store;
    const reserve = claims.reserve.bind(claims);
    jest.spyOn(claims, 'reserve').mockImplementationOnce(async (key, asks, guard) => {
      const { flowId, fingerprint } = asks;
      await claims.voidUnsent(key, { flowId, fingerprint }, 'closed elsewhere');
      const found = await reserve(key, asks, guard);
      await then(key.reference);
      return found;
    });
  };

  test('because its claim was given up: its flow ends, and nothing was sent', async () => {
    voidFirst();
    const { handle, reference } = await startSend(decisions.bench, 'given-up', LONG);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(await decisions.executions('sendCrypto', reference)).toBe(0);
  });

  test('because its claim was given up, although a trusted event reports it: it is followed', async () => {
    voidFirst((reference) => inInbox(decisions, `crypto-send/${reference}`, 'PENDING'));
    const { handle } = await startSend(decisions.bench, 'reported', LONG);
    const { view } = await noted(handle, 'proven');
    expect(view).toMatchObject({ outcome: null, stage: 'tracking' });
    expect(await answerOf(handle)).toMatchObject({ kind: 'none' });
    await handle.terminate();
  });
});

describe('a rate that the service reports as expired', () => {
  const expired = (then: (reference: string) => Promise<unknown> = async () => undefined) => {
    answer = {
      createOfframp: async ({ referenceId }) => {
        await then(referenceId ?? '');
        const refusal = { httpStatus: 400, message: 'Rate Expired', fields: [], isAboutReference: false };
        throw new RejectedError('createOfframp', { ...refusal, isRateExpired: true });
      },
    };
  };
  const start = async () => {
    const reference = newReference('rate');
    return decisions.bench.startFlow('offramp', reference, { ...offramp.input(reference), ...LONG });
  };

  test('is a refusal like any other, once the lookup shows nothing', async () => {
    expired();
    const handle = await start();
    expect(await answerOf(handle)).toMatchObject({ kind: 'rejected', httpStatus: 400 });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
    expect(await claimOf(handle.workflowId)).toMatchObject({ phase: 'rejected' });
  });

  test('ends no flow if a trusted event reports what it would have paid: that is followed', async () => {
    expired((reference) => inInbox(decisions, `offramp/${reference}`, 'CRYPTO_RECEIVED'));
    const handle = await start();
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'fiat-leg' || report.view.outcome !== null); // prettier-ignore
    expect(view).toMatchObject({ outcome: null, parked: null });
    await handle.terminate();
  });
});

describe('the answer to a POST', () => {
  const checkout = async (said: (body: { referenceId?: string | undefined }) => unknown) => {
    answer = { createBankCheckout: async (body) => said(body) };
    const reference = newReference('echo');
    const input = { ...bankCheckout.input(reference), amount: '250.50', currency: 'ZAR', ...LONG };
    return decisions.bench.startFlow('bank-checkout', reference, input);
  };

  test.each([
    ['a number', { amount: 9, currency: 'ZAR' }, { amount: '9' }],
    ['a text with spaces', { amount: ' 9.00 ', currency: 'ZAR' }, { amount: '9' }],
    ['another currency', { amount: 250.5, currency: 'usd ' }, { currency: 'USD' }],
    ['what cannot be read', { amount: 'much', currency: 'ZAR' }, { amount: UNREADABLE }],
    ['a negative number', { amount: -9, currency: 'ZAR' }, { amount: '-9' }],
    [
      'another sort of value',
      { amount: { value: 9 }, currency: ['ZAR'] },
      { amount: UNREADABLE, currency: UNREADABLE },
    ],
    ['a word that is no code of ours', { amount: 250.5, currency: 'rand' }, { currency: 'RAND' }],
    ['an amount with a thousands separator', { amount: '1,250.5', currency: 'zar' }, { amount: UNREADABLE }],
  ])('that repeats another request, as %s, is not followed: a person is asked', async (_what, said, theirs) => {
    const handle = await checkout(() => ({ id: 'S-1', ...said }));
    const { parked: asked } = await parked(handle);
    expect(asked).toMatchObject({ reason: 'conflict', evidence: { differs: Object.keys(theirs), theirs } });
    expect(await answerOf(handle)).toEqual({ kind: 'none', reason: 'conflict' });
    await handle.terminate();
  });

  test.each([
    ['the same amount in another spelling', { amount: 250.5, currency: ' zar' }, 'S-1'],
    ['nothing', {}, 'S-1'],
    ['nothing that can be compared', { amount: null, currency: ' ' }, 'S-1'],
    ['its id as a number', { id: 7 }, null],
    ['an empty id', { id: '' }, null],
  ])('that repeats %s is followed', async (_what, said, id) => {
    const handle = await checkout(() => ({ id: 'S-1', ...said }));
    const { view } = await noted(handle, 'accepted');
    expect(view).toMatchObject({ state: 'running', stage: 'tracking', serviceReference: id });
    expect(view.timeline.map(({ stage, code, by }) => [stage, code, by]).slice(0, 2)).toEqual([
      ['submitting', 'sending', 'flow'],
      ['tracking', 'accepted', 'service'],
    ]);
    expect(await answerOf(handle)).toEqual({ kind: 'accepted', answer: { id: 'S-1', ...said } });
    await handle.terminate();
  });

  test('lets the events act that came before it', async () => {
    const started: { flowId?: string } = {};
    const handle = await checkout(async ({ referenceId }) => {
      started.flowId = `bank-checkout/${referenceId ?? ''}`;
      await decisions.bench.client.workflow
        .getHandle(started.flowId)
        .signal('events', [await inInbox(decisions, started.flowId, 'PENDING')]);
      return { id: 'S-1' };
    });
    await untilFlow(handle, ({ events }) => Object.values(events)[0] === 'applied');
    expect((await reportOf(handle)).view.stage).toBe('tracking');
    await until('its claim to have the answer', async () => (await claimOf(started.flowId ?? ''))?.phase === 'answered'); // prettier-ignore
    await handle.terminate();
  });
});
