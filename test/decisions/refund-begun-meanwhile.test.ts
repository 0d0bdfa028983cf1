import { describe, expect, test } from 'vitest';
import { untilFlow } from '../harness/reports.js';
import { inInbox, parked, resolve } from './bench.js';
import { failed, useRefundBench } from './refund-bench.js';

describe("a person's order to refund, if a trusted event has said since that the service's own refund is done,", () => {
  const refunds = useRefundBench();
  const theirsIsDone = (flowId: string, reference: string) =>
    inInbox(refunds.decisions, flowId, 'FAILED', {
      body: { provider_reference_id: reference, refund_details: { refund_status: 'COMPLETED' } },
    });

  test('is refused: the person is shown that, and asked again', async () => {
    const { reference, refund, handle } = await refunds.tracked('theirs-since', { refund: { auto: false } });
    await handle.signal('events', [failed({ refundStatus: 'PENDING' })]);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'refund_needed' });
    await theirsIsDone(handle.workflowId, reference);
    await expect(resolve(handle, 'refund-now')).rejects.toThrow();
    const { view } = await untilFlow(handle, (report) => report.view.parked?.evidence['theirRefund'] === 'COMPLETED');
    expect(view.parked).toMatchObject({ reason: 'refund_needed' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    // Now it is a decision with that in view.
    await resolve(handle, 'refund-now');
    await untilFlow(handle, (report) =>
      report.view.timeline.some(({ detail }) => /the refund was accepted/.test(detail)),
    );
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
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
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    expect(refunds.sent).toHaveLength(1);
    refunds.isCutOff = false;
    await handle.terminate();
  });
});
