import { describe, expect, jest, test } from '@jest/globals';
import { InvalidRequestError } from '../../src/service-client/index.js';
import { ended, entriesOf, noted, parked, READING_MS, resolve } from './bench.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { failed, useRefundBench } from './refund-bench.js';

/** Waits of these flows take a thousandth of their time. */
const HOUR_MS = 3_600;
/** Of another amount than ours: a person decides about it. */
const differing = () => trusted('SETTLING', { facts: { settlementAmount: '9' } });

describe('a refund of ours', () => {
  const refunds = useRefundBench();
  const { tracked } = refunds;
  const pass = (ms: number) => refunds.decisions.bench.pass(ms);
  const reasonIs = (reason: string) => (report: { view: { parked: { reason: string } | null } }) =>
    report.view.parked?.reason === reason;

  const accepted = async (word: string, more: Record<string, unknown> = {}) => {
    const flow = await tracked(word, more);
    await flow.handle.signal('events', [failed()]);
    await noted(flow.handle, 'refund-accepted');
    return flow;
  };
  const failedSend = async (word: string) => {
    const flow = await accepted(word);
    await refunds.decisions.move(flow.refund, 'FAILED', 'sendCrypto');
    await pass(HOUR_MS);
    const { view } = await untilFlow(flow.handle, reasonIs('refund_failed'));
    expect(view.parked?.evidence).toMatchObject({ code: 'refund_send_failed' });
    expect(entriesOf(view, 'refund-failed')).toMatchObject([{ by: 'service' }]);
    return flow;
  };

  test('that was sent and failed is no second one: the refund of the service ends the transfer', async () => {
    const { handle } = await failedSend('failed-then-theirs');
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('that failed is asked about again after a person has dismissed an event that differs', async () => {
    const { handle } = await failedSend('failed-and-other');
    await handle.signal('events', [differing()]);
    await untilFlow(handle, reasonIs('event_mismatch'));
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, reasonIs('refund_failed'));
    await resolve(handle, 'close-without-refund');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'closed_by_person' } });
  });

  test('that failed parks as a conflict when the service reports the transfer as completed', async () => {
    const { handle } = await failedSend('failed-and-completed');
    await handle.signal('events', [trusted('COMPLETED')]);
    const { view } = await untilFlow(handle, reasonIs('conflict'));
    // Ours never arrived.
    expect(view.parked?.evidence).not.toHaveProperty('ownRefund');
    await handle.terminate();
  });

  test('that is being confirmed goes on to be so after a person has dismissed an event that differs', async () => {
    const { refund, handle } = await accepted('confirmed-and-other');
    await handle.signal('events', [differing()]);
    await untilFlow(handle, reasonIs('event_mismatch'));
    await resolve(handle, 'dismiss-event');
    await refunds.decisions.move(refund, 'SUCCESSFUL', 'sendCrypto');
    await pass(HOUR_MS);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('that is not confirmed is not asked about again before the time until which a person waits', async () => {
    const { handle } = await accepted('kept-waiting');
    await pass(HOUR_MS);
    const view = await parked(handle);
    expect(view.parked?.reason).toBe('refund_unconfirmed');
    const until = new Date(Date.parse(view.updatedAt) + 10 * HOUR_MS).toISOString();
    const order = { action: 'keep-waiting', note: 'a slow chain', actor: 'ada', until };
    await handle.executeUpdate('resolve', { args: [order] });
    await pass(HOUR_MS);
    expect((await untilFlow(handle, () => true)).view).toMatchObject({ state: 'running', deadlineAt: until });
    await pass(10 * HOUR_MS);
    expect((await parked(handle)).parked?.reason).toBe('refund_unconfirmed');
    await handle.terminate();
  });

  test('that a person orders past the deadline has a deadline of its own', async () => {
    const { refund, handle } = await tracked('late-order', { refund: { auto: false }, deadlineSeconds: 60_000 });
    await handle.signal('events', [failed()]);
    await pass(61_000);
    const { parked: shown, deadlineAt } = await parked(handle);
    expect(shown).toMatchObject({
      reason: 'refund_needed',
      evidence: {
        code: 'refund_not_automatic',
        refund: { cryptoAmount: '7.5', token: 'USDC', receiverAddress: expect.stringMatching(/^\w{6}…\w{4}$/) },
        cryptoPaid: 'shown',
        theirRefund: null,
      },
    });
    expect(shown?.evidence).not.toHaveProperty('claimed');
    await resolve(handle, 'refund-now');
    const { view } = await noted(handle, 'refund-accepted');
    expect(Date.parse(view.deadlineAt ?? '')).toBeGreaterThan(Date.parse(deadlineAt ?? ''));
    expect(view.parked).toBeNull();
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('whose claim a person closes as not executed ends the transfer as failed, and never as not executed', async () => {
    refunds.isCutOff = true;
    const { handle } = await tracked('closed');
    await handle.signal('events', [failed()]);
    await pass(READING_MS);
    await noted(handle, 'parked', 'refund_unknown');
    refunds.isCutOff = false;
    await Promise.all([resolve(handle, 'close-not-executed'), pass(READING_MS)]);
    expect(await ended(handle)).toMatchObject({
      state: 'failed',
      outcome: { reason: 'closed_by_person' },
    });
  });

  test('whose claim is void was given up before: a person is asked, and the refund of the service ends it', async () => {
    const { claims } = refunds.decisions.store;
    const { refund, handle } = await tracked('void');
    const reserve = claims.reserve.bind(claims);
    const given = { kind: 'void', reason: 'given up' } as never;
    const spy = jest
      .spyOn(claims, 'reserve')
      .mockImplementation(async (...order) => (order[0].reference === refund ? given : reserve(...order)));
    await handle.signal('events', [failed()]);
    const { view } = await untilFlow(handle, reasonIs('refund_failed'));
    spy.mockRestore();
    expect(view.parked?.evidence).toMatchObject({ code: 'refund_claim_closed' });
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('that can never be sent as it is stays due, and is not taken for one that was sent', async () => {
    const { handle } = await tracked('never-sent');
    const unfit = new InvalidRequestError('sendCrypto', [{ path: 'receiverAddress', problem: 'is no address' }]);
    refunds.refusedAfter = () => Promise.reject(unfit);
    await handle.signal('events', [failed()]);
    const { view } = await untilFlow(handle, reasonIs('refund_needed'));
    refunds.refusedAfter = undefined;
    expect(view.parked?.evidence).toMatchObject({ why: unfit.message, refund: null });
    await handle.signal('events', [trusted('COMPLETED')]);
    const { view: after } = await untilFlow(handle, reasonIs('conflict'));
    expect(after.parked?.evidence).not.toHaveProperty('ownRefund');
    await handle.terminate();
  });
});
