import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { ServiceUnavailableError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import {
  ended,
  gate,
  inInbox,
  noted,
  openDecisionBench,
  parked,
  resolve,
  startSend,
  TIME_SCALE,
  READING_MS,
} from './bench.js';
import { ACCOUNT } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { MAX_UPDATES_PER_RUN } from '../../workflows/engine/policies.js';

const HOUR_MS = 3_600_000;

describe('a parked flow', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let answerIsLost = false;
  let quotesFail = false;
  let lookupFails = false;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async createBridgeDeposit(body) {
        const answer = await service.createBridgeDeposit(body);
        if (!answerIsLost) return answer;
        // As its worker would that is cut off between the record and the end of its step.
        const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference: body.provider_reference_id };
        await decisions.store.claims.recordAnswer(key, answer);
        throw new UnknownOutcomeError('createBridgeDeposit', 'connection-lost');
      },
      getCryptoSend: (reference) =>
        lookupFails
          ? Promise.reject(new ServiceUnavailableError('getCryptoSend', 'http-status', 503))
          : service.getCryptoSend(reference),
      async quoteBridge(body) {
        if (quotesFail) throw new UnknownOutcomeError('quoteBridge', 'timeout');
        return service.quoteBridge(body);
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const lengthOf = async (handle: WorkflowHandle) => (await handle.describe()).historyLength;

  const overdueSend = async () => {
    const { reference, handle } = await startSend(decisions.bench, 'overdue', { deadlineSeconds: 600 });
    return { reference, handle, operation: 'sendCrypto' };
  };
  const overdueRecord = async () => {
    const reference = newReference('pending');
    const input = { kycId: reference, deadlineSeconds: 600, timeScale: TIME_SCALE };
    const handle = await decisions.bench.startFlow('kyc-check', reference, input);
    return { reference, handle, operation: 'getKycStatus' };
  };

  test.each([
    ['no_settlement', overdueSend, 'SUCCESSFUL'],
    ['no_decision', overdueRecord, 'APPROVED'],
  ] as const)(
    "as %s is looked up on, which adds no history, and ends by the service's status, without an event and without a person",
    async (reason, start, word) => {
      const { reference, handle, operation } = await start();
      await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
      const shownAs = (await parked(handle)).parked;
      expect(shownAs?.reason).toBe(reason);
      expect(shownAs?.evidence).not.toHaveProperty('undecided');
      // By then its word to people is in the store.
      await decisions.bench.pass(60_000 * TIME_SCALE);
      const before = await lengthOf(handle);
      await decisions.bench.pass(HOUR_MS * TIME_SCALE);
      expect(await lengthOf(handle)).toBe(before);
      const { matters } = decisions.store;
      const shown = async () =>
        (await matters.due(1_000)).matters.find(({ content }) => content.flowId === handle.workflowId);
      expect(await shown()).toMatchObject({ content: { reason }, resolvedAtMs: undefined });
      await decisions.move(reference, word, operation);
      expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
      expect((await shown())?.resolvedAtMs).toEqual(expect.any(Number));
    },
  );

  test.each([
    ['no_settlement', overdueSend, 'SUCCESSFUL'],
    ['no_decision', overdueRecord, 'APPROVED'],
  ] as const)(
    'as %s is not ended as failed by a person, where the service reports otherwise by the time that it is carried out',
    async (_reason, start, word) => {
      const { reference, handle, operation } = await start();
      await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
      await parked(handle);
      await decisions.move(reference, word, operation);
      await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
      expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
    },
  );

  test('that goes on while the store is away calls no person once the store is back', async () => {
    const { handle } = await overdueSend();
    const { matters } = decisions.store;
    const open = matters.open.bind(matters);
    let isAway = true;
    const called: boolean[] = [];
    const opening = jest.spyOn(matters, 'open').mockImplementation(async (...matter) => {
      called.push(isAway);
      if (isAway) throw new StoreUnavailableError('AWAY', 'database');
      return open(...matter);
    });
    await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
    await until('the call for a person', async () => called.length > 0);
    await resolve(handle, 'keep-waiting');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    isAway = false;
    await decisions.bench.pass(5 * 60_000 * TIME_SCALE);
    expect(called).not.toContain(false);
    opening.mockRestore();
    await handle.terminate();
  });

  test('is not ended as failed by an order that waits for the store, when the service reports otherwise meanwhile', async () => {
    const { reference, handle } = await overdueSend();
    await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
    await parked(handle);
    const { claims } = decisions.store;
    const closeByOrder = claims.closeByOrder.bind(claims);
    let isAway = true;
    const closing = jest.spyOn(claims, 'closeByOrder').mockImplementation(async (...order) => {
      if (isAway) throw new StoreUnavailableError('AWAY', 'database');
      return closeByOrder(...order);
    });
    const ordered = resolve(handle, 'mark-failed').then(
      () => 'carried out',
      (error: { cause?: { type?: string } }) => error.cause?.type,
    );
    await until('the order to wait for the store', async () => closing.mock.calls.length > 0);
    await decisions.move(reference, 'SUCCESSFUL', 'sendCrypto');
    await decisions.bench.pass(HOUR_MS * TIME_SCALE);
    isAway = false;
    expect(await ordered).toBe('flow_ended');
    expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
    closing.mockRestore();
  });

  test('keeps nothing of orders that are refused at once, and has room for the one that decides', async () => {
    const { handle } = await overdueSend();
    await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
    await parked(handle);
    const accepted = async () =>
      ((await handle.fetchHistory()).events ?? []).filter(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes,
      ).length;
    const times = (count: number, name: string) =>
      Promise.all(
        Array.from({ length: count }, () =>
          handle.executeUpdate(name, { args: [{ actor: 'a job' }] }).then(
            () => 'taken',
            (error: Error) => (error.cause as ApplicationFailure).type,
          ),
        ),
      );
    expect(new Set(await times(50, 'cancel'))).toEqual(new Set(['money_may_have_moved']));
    expect(await accepted()).toBe(0);

    const answers = await times(MAX_UPDATES_PER_RUN + 20, 'answer');
    expect(new Set(answers)).toEqual(new Set(['taken', 'too_many_orders']));
    expect(await accepted()).toBeLessThanOrEqual(MAX_UPDATES_PER_RUN);
    expect(await resolve(handle, 'mark-completed')).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('takes one of two orders that come at once: the other one decides nothing about what it asks next', async () => {
    const { handle } = await startSend(decisions.bench, 'two-orders', { deadlineSeconds: 360_000 });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const others = ['8', '9'].map((cryptoAmount) => trusted('SUCCESSFUL', { facts: { cryptoAmount } }));
    await handle.signal('events', others);
    const asksAbout = (id?: string) =>
      untilFlow(handle, ({ view }) => (view.parked?.evidence['event'] as { id?: string } | undefined)?.id === id);
    await asksAbout(others[0]?.id);
    const { audit } = decisions.store;
    const append = audit.append.bind(audit);
    const mayRecord = gate();
    let recorded = 0;
    const recording = jest.spyOn(audit, 'append').mockImplementation(async (...entry) => {
      recorded += 1;
      if (recorded === 2) await mayRecord.opened;
      return append(...entry);
    });
    const orders = ['ada', 'ben'].map((actor) =>
      handle.executeUpdate('resolve', { args: [{ action: 'dismiss-event', note: 'not ours', actor }] }).then(
        () => 'carried out',
        (error: { cause?: { type?: string } }) => error.cause?.type,
      ),
    );
    await until('both to be recorded', () => recorded === 2);
    await asksAbout(others[1]?.id);
    mayRecord.open();
    expect(new Set(await Promise.all(orders))).toEqual(new Set(['carried out', 'flow_moved_on']));
    await asksAbout(others[1]?.id);
    recording.mockRestore();
    await handle.terminate();
  });

  test('is not ended as failed by a person against a trusted event, while the service cannot be asked', async () => {
    lookupFails = true;
    const { handle } = await overdueSend();
    await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
    await parked(handle);
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL');
    for (const action of ['mark-failed', 'mark-failed']) {
      await expect(resolve(handle, action)).rejects.toMatchObject({
        cause: { type: 'proven_otherwise' },
      });
      await parked(handle);
    }
    await resolve(handle, 'mark-completed');
    expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
    lookupFails = false;
  });

  test('is ended by no order while the inbox cannot be read', async () => {
    lookupFails = true;
    const { handle } = await overdueSend();
    await decisions.bench.pass(10 * 60_000 * TIME_SCALE);
    await parked(handle);
    const { inbox } = decisions.store;
    const away = jest.spyOn(inbox, 'list').mockRejectedValue(new StoreUnavailableError('AWAY', 'database'));
    const refused = { cause: { type: 'inbox_not_read' } };
    await Promise.all([
      expect(resolve(handle, 'mark-failed')).rejects.toMatchObject(refused),
      decisions.bench.pass(READING_MS),
    ]);
    away.mockRestore();
    await parked(handle);
    await resolve(handle, 'mark-failed');
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
    lookupFails = false;
  });

  test('is not ended as failed by a person if its inbox proves that it completed', async () => {
    const reference = newReference('in-the-inbox');
    const input = transferInput(reference, { timeScale: 0.001, deadlineSeconds: 3_600 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await decisions.bench.pass(10_000);
    await parked(handle);
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
    expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
  });

  test('as a conflict is not ended by a person against an event of another amount that came since: it is shown first', async () => {
    const input = transferInput(newReference('came-since'), { timeScale: TIME_SCALE, deadlineSeconds: 360_000 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } }), trusted('COMPLETED')]);
    expect((await parked(handle)).parked?.reason).toBe('conflict');
    const other = trusted('COMPLETED', { facts: { settlementAmount: '99', settlementCurrency: 'ZAR' } });
    await handle.signal('events', [other]);
    // By then the event is asked about, or is not taken yet.
    const type: unknown = expect.stringMatching(/^(unknown_action|flow_moved_on)$/);
    await expect(resolve(handle, 'mark-failed')).rejects.toMatchObject({ cause: { type } });
    const { parked: shown } = await parked(handle);
    expect(shown).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['settlementAmount'], theirs: { settlementAmount: '99', settlementCurrency: 'ZAR' } },
    });
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'conflict');
    await resolve(handle, 'mark-failed');
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
  });

  test('is none of whose answer lies in its claim: it is followed, and its refund has its terms', async () => {
    answerIsLost = true;
    const reference = newReference('cut-off');
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    answerIsLost = false;
    const failed = { facts: { refundAnnounced: 'true', failureStage: 'settlement' } };
    await handle.signal('events', [trusted('FAILED', failed)]);
    await noted(handle, 'refund-accepted');
    expect(await decisions.executions('sendCrypto', `${reference}.refund`)).toBe(1);
    await handle.terminate();
  });

  test('parks again, with few events, if another send is ordered and no quote is available', async () => {
    const reference = newReference('no-quote');
    // The claim of a lost attempt that may have sent.
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    const handle = await decisions.bench.start(
      transferInput(reference, { approval: 'required', timeScale: TIME_SCALE, deadlineSeconds: 600 }),
    );
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    const fingerprint = String((await handle.describe()).memo?.['fingerprint']);
    await decisions.store.claims.reserve(key, { owner: 'gone', flowId: handle.workflowId, fingerprint });
    await decisions.store.claims.markSending(key, 'gone');
    await handle.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
    await parked(handle);
    quotesFail = true;
    await resolve(handle, 'send-again');
    await noted(handle, 'send-again-ordered');
    const before = await lengthOf(handle);
    await decisions.bench.pass(HOUR_MS * TIME_SCALE);
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    expect((await lengthOf(handle)) - before).toBeLessThan(60);
    expect(await decisions.executions('createBridgeDeposit', reference)).toBe(0);
    quotesFail = false;
    await handle.terminate();
  });
});
