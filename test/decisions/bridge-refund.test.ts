import { randomUUID } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { ended, inInbox, noted, parked, resolve, READING_MS } from './bench.js';
import { ACCOUNT } from '../harness/fixed.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { failed, useRefundBench } from './refund-bench.js';

describe('a refund that the input orders', () => {
  const refunds = useRefundBench();
  const { tracked, claimOf } = refunds;

  test('can be sent after a last word that was refused for a FAILED of that moment: the word leaves nothing behind', async () => {
    const { reference, refund, handle } = await tracked('last-word', { deadlineSeconds: 60_000 });
    await refunds.decisions.bench.pass(60_000);
    expect((await parked(handle)).parked?.reason).toBe('no_settlement');
    const { claims } = refunds.decisions.store;
    const close = claims.closeByOrder.bind(claims);
    let id = '';
    const spy = jest.spyOn(claims, 'closeByOrder').mockImplementationOnce(async (...order) => {
      ({ id } = await inInbox(refunds.decisions, handle.workflowId, 'FAILED', {
        body: { provider_reference_id: reference },
      }));
      return close(...order);
    });
    await expect(resolve(handle, 'mark-completed')).rejects.toMatchObject({
      cause: { type: 'event_came' },
    });
    spy.mockRestore();
    expect(await claimOf(refund)).toBeUndefined();
    expect(await claims.orders({ account: ACCOUNT, operation: 'createBridgeDeposit', reference })).toEqual([]);
    // By then its word to people is in the store.
    await refunds.decisions.bench.pass(60);
    await handle.signal('events', [{ ...failed(), id }]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('is void after a person marks the transfer at its deadline; a FAILED that comes while that is done is late', async () => {
    const { refund, handle } = await tracked('late', { deadlineSeconds: 60_000 });
    await refunds.decisions.bench.pass(60_000);
    expect((await parked(handle)).parked?.reason).toBe('no_settlement');
    const { claims } = refunds.decisions.store;
    const close = claims.closeByOrder.bind(claims);
    const late = failed();
    const spy = jest.spyOn(claims, 'closeByOrder').mockImplementationOnce(async (...order) => {
      const closed = await close(...order);
      await handle.signal('events', [late]);
      return closed;
    });
    await resolve(handle, 'mark-completed');
    spy.mockRestore();
    const { view } = (await handle.result()) as FlowReport;
    expect(view.outcome).toMatchObject({ state: 'completed' });
    expect((await claimOf(refund))?.phase).toBe('void');
  });

  test('that is refused because the service has just refunded it is not taken for one that was sent', async () => {
    const { reference, refund, handle } = await tracked('theirs-first');
    refunds.refusedAfter = () => inInbox(refunds.decisions, `bridge-transfer/${reference}`, 'REFUNDED');
    await handle.signal('events', [failed()]);
    await refunds.decisions.bench.pass(1_000);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    refunds.refusedAfter = undefined;
    expect((await claimOf(refund))?.phase).toBe('rejected');
  });

  test.each(['COMPLETED', 'REFUNDED'])(
    'is held back by an untrusted %s that lies in the inbox, and is sent by the order of a person who has seen it',
    async (status) => {
      const { reference, refund, handle } = await tracked('undelivered');
      const id = randomUUID();
      await refunds.decisions.store.inbox.receive({
        id,
        source: 'settlement',
        flowId: handle.workflowId,
        reference,
        status,
        proof: null,
        contentHash: id,
        body: { provider_reference_id: reference, status },
      });
      await handle.signal('events', [failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { claimed: [{ id }] } });
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
      await resolve(handle, 'refund-now');
      await noted(handle, 'refund-accepted');
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );

  test.each([
    ['trusted', 'capability'],
    ['untrusted', null],
  ] as const)(
    "is held back by a %s FAILED that lies in the inbox, and reports the service's own refund as done",
    async (_, proof) => {
      const { reference, refund, handle } = await tracked('theirs-undelivered');
      const refunded = { provider_reference_id: reference, refund_details: { refund_status: 'COMPLETED' } };
      await inInbox(refunds.decisions, handle.workflowId, 'FAILED', { proof, body: refunded });
      await handle.signal('events', [failed()]);
      expect((await parked(handle)).parked?.reason).toBe('refund_needed');
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    },
  );

  test('that never left by the deadline is void once a person marks it as refunded', async () => {
    refunds.isAway = true;
    const { refund, handle } = await tracked('never-left', { deadlineSeconds: 7_200 });
    await handle.signal('events', [failed()]);
    await refunds.decisions.bench.pass(7_200);
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    expect(await claimOf(refund)).toMatchObject({ phase: 'reserved' });
    // The flow keeps checking while it is parked, and parks again: an order at that moment is given again.
    while ((await resolve(handle, 'mark-refunded').catch(() => undefined)) === undefined) await parked(handle);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    refunds.isAway = false;
    expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
  });

  test.each(['mark-refunded', 'close-without-refund', 'mark-completed'])(
    'is void after %s where it was needed, so that no reset of the flow sends it',
    async (action) => {
      const { refund, handle } = await tracked('ordered', { refund: { auto: false } });
      await handle.signal('events', [failed()]);
      expect((await parked(handle)).parked?.reason).toBe('refund_needed');
      await resolve(handle, action);
      await ended(handle);
      expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
    },
  );

  test.each([
    ['trusted', true],
    ['untrusted', false],
  ])("is held back where a %s FAILED reports the service's own as done", async (_, isTrusted) => {
    const { refund, handle } = await tracked('theirs-begun');
    const said = failed({ refundStatus: 'COMPLETED', refundCryptoAmount: '7.5' });
    await handle.signal('events', isTrusted ? [said] : [{ ...said, trusted: false, proof: null }, failed()]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: isTrusted
        ? { code: 'service_refund_begun', theirRefund: 'COMPLETED' }
        : { code: 'unverified_event_against_it' },
    });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'mark-refunded');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('whose answer was lost parks as a conflict when the service reports REFUNDED: it may have made one of its own', async () => {
    refunds.isLost = true;
    const { refund, handle } = await tracked('two-refunds');
    await handle.signal('events', [failed()]);
    await noted(handle, 'outcome-unknown');
    await handle.signal('events', [trusted('REFUNDED')]);
    await noted(handle, 'parked', 'conflict');
    refunds.isLost = false;
    expect((await parked(handle)).parked?.evidence).toMatchObject({
      ownRefund: refund,
      proven: ['FAILED', 'REFUNDED'],
      code: 'refunded_twice_maybe',
    });
    await resolve(handle, 'mark-refunded');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('whose claim was closed as not executed is no end if the inbox cannot be read right after that', async () => {
    refunds.isLost = true;
    const { reference, handle } = await tracked('closed-unread');
    await handle.signal('events', [failed()]);
    await refunds.decisions.bench.pass(READING_MS);
    await noted(handle, 'parked', 'refund_unknown');
    const { claims, inbox } = refunds.decisions.store;
    const close = claims.closeNotExecuted.bind(claims);
    jest.spyOn(claims, 'closeNotExecuted').mockImplementationOnce(async (...order) => {
      const isClosed = await close(...order);
      await inInbox(refunds.decisions, handle.workflowId, 'COMPLETED', { body: { provider_reference_id: reference } });
      jest.spyOn(inbox, 'hasToMatch').mockRejectedValue(new StoreUnavailableError('SQLITE_BUSY', 'database'));
      return isClosed;
    });
    await Promise.all([resolve(handle, 'close-not-executed'), refunds.decisions.bench.pass(60_000)]);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'step_failed');
    expect(view.outcome).toBeNull();
    jest.restoreAllMocks();
    refunds.isLost = false;
    await untilFlow(handle, (report) => report.view.parked?.reason === 'conflict');
    await handle.terminate();
  });

  test('whose claim was closed as not executed is no end against an event of another amount that came meanwhile', async () => {
    refunds.isLost = true;
    const { handle } = await tracked('closed-other');
    await handle.signal('events', [failed()]);
    await refunds.decisions.bench.pass(READING_MS);
    await noted(handle, 'parked', 'refund_unknown');
    const { claims } = refunds.decisions.store;
    const close = claims.closeNotExecuted.bind(claims);
    jest.spyOn(claims, 'closeNotExecuted').mockImplementationOnce(async (...order) => {
      const isClosed = await close(...order);
      await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: '9' } })]);
      return isClosed;
    });
    const refused = expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({
      cause: { type: 'event_came' },
    });
    await Promise.all([refused, refunds.decisions.bench.pass(READING_MS)]);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ theirs: { settlementAmount: '9' } });
    jest.restoreAllMocks();
    refunds.isLost = false;
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, (report) => report.view.parked?.reason === 'refund_failed');
    await handle.terminate();
  });

  test.each([
    ['COMPLETED', {}, 'conflict'],
    ['SETTLING', { settlementAmount: '9' }, 'event_mismatch'],
  ])(
    'is not sent again if a trusted %s %o comes while that is being ordered: it parks',
    async (word, facts, reason) => {
      refunds.isCutOff = true;
      const { handle } = await tracked('again-against');
      await handle.signal('events', [failed()]);
      await noted(handle, 'parked', 'refund_unknown');
      const { claims } = refunds.decisions.store;
      const order = claims.orderSendAgain.bind(claims);
      jest.spyOn(claims, 'orderSendAgain').mockImplementationOnce(async (...given) => {
        const isOrdered = await order(...given);
        await handle.signal('events', [trusted(word, { facts })]);
        return isOrdered;
      });
      await resolve(handle, 'send-again');
      await untilFlow(handle, (report) => report.view.parked?.reason === reason);
      expect(refunds.sent).toHaveLength(1);
      jest.restoreAllMocks();
      refunds.isCutOff = false;
      await handle.terminate();
    },
  );

  test('that was accepted parks as a conflict when the service reports REFUNDED, whatever the outcome of ours', async () => {
    const { refund, handle } = await tracked('two-refunds');
    await handle.signal('events', [failed()]);
    await noted(handle, 'refund-accepted');
    await handle.signal('events', [trusted('REFUNDED')]);
    await noted(handle, 'parked', 'conflict');
    expect((await parked(handle)).parked?.evidence).toMatchObject({ ownRefund: refund });
    await handle.terminate();
  });

  test('that was accepted and is not confirmed for an hour parks, waits on by order, and ends by its status', async () => {
    const { refund, handle } = await tracked('unconfirmed');
    const anHour = () => refunds.decisions.bench.pass(3_600);
    await handle.signal('events', [failed()]);
    await noted(handle, 'refund-accepted');
    await anHour();
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_unconfirmed',
      actions: ['keep-waiting', 'mark-refunded', 'mark-failed'],
      evidence: { reference: refund },
    });
    await resolve(handle, 'keep-waiting');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    await anHour();
    expect((await parked(handle)).parked?.reason).toBe('refund_unconfirmed');
    await refunds.decisions.move(refund, 'SUCCESSFUL', 'sendCrypto');
    const { view } = (await handle.result()) as FlowReport;
    expect(view.outcome).toMatchObject({ state: 'refunded' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
  });

  test.each([
    ['mark-refunded', 'refunded'],
    ['mark-failed', 'failed'],
  ])('that was accepted and is never confirmed ends by %s of a person as %s', async (action, state) => {
    const { handle } = await tracked('never-confirmed');
    await handle.signal('events', [failed()]);
    await noted(handle, 'refund-accepted');
    await refunds.decisions.bench.pass(3_600);
    expect((await parked(handle)).parked?.reason).toBe('refund_unconfirmed');
    await resolve(handle, action);
    expect(await ended(handle)).toMatchObject({ state });
  });
});
