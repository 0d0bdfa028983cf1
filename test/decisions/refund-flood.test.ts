import { describe, expect, test } from '@jest/globals';
import { MAX_UNTRUSTED } from '../../src/protocol/events.js';
import { noted, parked, resolve } from './bench.js';
import { failed, untrusted, useRefundBench } from './refund-bench.js';

describe('a refund that the input orders, beside a flood of untrusted events,', () => {
  const refunds = useRefundBench();
  const { tracked } = refunds;

  test.each(['COMPLETED', 'REFUNDED', 'completed'])(
    'is held back by an untrusted %s that comes behind more untrusted events than a flow keeps',
    async (word) => {
      const { refund, handle } = await tracked('flooded');
      const claim = untrusted(word);
      await handle.signal('events', [...Array.from({ length: 30 }, () => untrusted('SETTLING')), claim, failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(/unverified/) } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    },
  );

  test('is held back by a flood of untrusted events of one ending, of which no more than a flow keeps are shown', async () => {
    const { handle } = await tracked('flood-of-one');
    const flood = Array.from({ length: MAX_UNTRUSTED + 10 }, () => untrusted('COMPLETED'));
    await handle.signal('events', [...flood, failed()]);
    const { parked: shown } = await parked(handle);
    expect(shown?.reason).toBe('refund_needed');
    expect(shown?.evidence['claimed']).toHaveLength(MAX_UNTRUSTED);
    await handle.terminate();
  });

  test('is held back by an untrusted FAILED with a refund that is not shown to the flow, behind a flood of others', async () => {
    const { refund, handle } = await tracked('flooded-failures');
    const theirs = { ...failed({ refundStatus: 'COMPLETED' }), trusted: false, proof: null };
    const flood = Array.from({ length: 30 }, () => untrusted('FAILED'));
    for (const event of [...flood, theirs]) {
      await refunds.decisions.store.inbox.receive({
        id: event.id,
        source: 'settlement',
        flowId: handle.workflowId,
        reference: refund,
        status: 'FAILED',
        proof: null,
        contentHash: event.id,
        body: { status: 'FAILED' },
      });
    }
    await handle.signal('events', [...flood, theirs, failed()]);
    expect((await parked(handle)).parked?.reason).toBe('refund_needed');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('is held back by more untrusted events than a flow keeps, which it cannot judge: a person who is shown that sends it', async () => {
    const { reference, refund, handle } = await tracked('flooded-unjudged');
    const flood = Array.from({ length: 30 }, () => untrusted('FAILED'));
    for (const { id } of flood) {
      const row = { id, source: 'settlement', flowId: handle.workflowId, reference, status: 'FAILED' } as const;
      await refunds.decisions.store.inbox.receive({ ...row, proof: null, contentHash: id, body: { status: 'FAILED' } });
    }
    await handle.signal('events', [...flood, failed()]);
    const { parked: shown } = await parked(handle);
    expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { code: 'event_came' } });
    expect(refunds.sent).toEqual([]);
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });
});
