import { describe, expect, jest, test } from '@jest/globals';
import { untilFlow } from '../harness/reports.js';
import { trusted } from '../harness/inputs.js';
import { ended, inInbox, noted, parked, resolve } from './bench.js';
import { failed, useRefundBench } from './refund-bench.js';

describe("a person's order to refund, when a trusted event has reported since that the service's own refund is done,", () => {
  const refunds = useRefundBench();
  const theirsIsDone = (flowId: string, reference: string) =>
    inInbox(refunds.decisions, flowId, 'FAILED', {
      body: { provider_reference_id: reference, refund_details: { refund_status: 'COMPLETED' } },
    });

  test.each(['PENDING', 'PROCESSING'])('is refused: the person, who was shown "%s", is asked again', async (word) => {
    const { reference, refund, handle } = await refunds.tracked('theirs-since', { refund: { auto: false } });
    await handle.signal('events', [failed({ refundStatus: word })]);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'refund_needed' });
    await theirsIsDone(handle.workflowId, reference);
    await expect(resolve(handle, 'refund-now')).rejects.toThrow();
    const both = `${word}, COMPLETED`;
    const { view } = await untilFlow(handle, (report) => report.view.parked?.evidence['theirRefund'] === both);
    expect(view.parked).toMatchObject({ reason: 'refund_needed' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    // Now it is a decision with that in view.
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('sends no lost refund again if that event comes while the send is being ordered: its outcome stays unknown', async () => {
    refunds.isCutOff = true;
    const { handle } = await refunds.tracked('lost-while-ordered');
    await handle.signal('events', [failed()]);
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    const { claims } = refunds.decisions.store;
    const order = claims.orderSendAgain.bind(claims);
    jest.spyOn(claims, 'orderSendAgain').mockImplementationOnce(async (...given) => {
      const isOrdered = await order(...given);
      await handle.signal('events', [failed({ refundStatus: 'COMPLETED' })]);
      return isOrdered;
    });
    await resolve(handle, 'send-again');
    const { view } = await untilFlow(
      handle,
      (report) => report.view.outcome !== null || report.view.parked?.evidence['claim'] === 'sending',
    );
    jest.restoreAllMocks();
    expect(view.parked).toMatchObject({
      reason: 'refund_unknown',
      // The first send may have arrived, so the claim says no more than before the order.
      evidence: { claim: 'sending', code: 'service_refund_begun' },
    });
    expect(view.parked?.actions).not.toContain('send-again');
    expect(refunds.sent).toHaveLength(1);
    refunds.isCutOff = false;
    await handle.terminate();
  });

  test('sends no lost refund again', async () => {
    refunds.isCutOff = true;
    const { reference, handle } = await refunds.tracked('lost-since');
    await handle.signal('events', [failed()]);
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    await theirsIsDone(handle.workflowId, reference);
    await resolve(handle, 'send-again').catch(() => undefined);
    await refunds.decisions.bench.pass(60_000);
    // The first one is as unknown as before, which the person must see.
    const { parked: shown } = await parked(handle);
    expect(shown).toMatchObject({
      reason: 'refund_unknown',
      evidence: { claim: 'sending', code: 'service_refund_begun' },
    });
    expect(shown?.actions).not.toContain('send-again');
    expect(refunds.sent).toHaveLength(1);
    refunds.isCutOff = false;
    await handle.terminate();
  });
});

describe("a person's order about a refund, when a trusted event has reported since whether crypto was paid at all,", () => {
  const refunds = useRefundBench();
  const unclear = async (word: string) => {
    const flow = await refunds.tracked(word, { refund: { auto: false } });
    await flow.handle.signal('events', [trusted('FAILED')]);
    expect((await parked(flow.handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { cryptoPaid: 'cannot-tell' },
    });
    return flow;
  };

  test('sends none: it failed before that', async () => {
    const { reference, refund, handle } = await unclear('none-paid');
    await inInbox(refunds.decisions, handle.workflowId, 'FAILED', {
      body: { provider_reference_id: reference, failure_details: { failure_stage: 'deposit' } },
    });
    await expect(resolve(handle, 'refund-now')).rejects.toThrow();
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
  });

  test('gives up none: it was paid, and the person is asked again', async () => {
    const { reference, handle } = await unclear('paid-since');
    await inInbox(refunds.decisions, handle.workflowId, 'PAYMENT_SENT', {
      body: { provider_reference_id: reference },
    });
    await expect(resolve(handle, 'close-without-refund')).rejects.toThrow();
    const { view } = await untilFlow(handle, (report) => report.view.parked?.evidence['cryptoPaid'] === 'shown');
    expect(view.parked?.reason).toBe('refund_needed');
    await handle.terminate();
  });
});
