import { describe, expect, test } from '@jest/globals';
import { bridgeTransferFlow } from '../../src/flows/bridge-transfer.js';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { flowIdOf } from '../../src/protocol/vocabulary.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { parked, resolve } from './bench.js';
import { failed, untrusted, useRefundBench } from './refund-bench.js';

describe('a refund that the input orders, after a trusted FAILED whose refund is PENDING,', () => {
  const refunds = useRefundBench();
  const failedWith = async (word: string, details: object) => {
    const flow = await refunds.tracked(word);
    const failure = { status: 'FAILED', failure_details: { failure_stage: 'settlement' } };
    const body = { ...failure, refund_details: { refund_status: 'PENDING', ...details } };
    const { facts = {} } = bridgeTransferFlow.readEvent(body) ?? {};
    await flow.handle.signal('events', [trusted('FAILED', { facts })]);
    await refunds.decisions.bench.pass(1_000);
    return flow;
  };

  test.each([
    ['a start', { refund_initiated_at: '2026-01-01T00:00:00Z' }],
    ['a method', { refund_method_used: 'crypto_address' }],
    ['a hash', { refund_payment_hash: 'ab'.repeat(32) }],
    ['a method that cannot be read', { refund_method_used: { name: 'crypto' } }],
  ])('is left to a person if the service has begun its own, by %s; the person may send it', async (_, details) => {
    const { handle, refund } = await failedWith('begun', details);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { code: 'service_refund_begun', theirRefundBegun: expect.anything() },
    });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'refund-now');
    await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'refund-accepted'));
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  const laterBy = (body: Record<string, unknown>) => {
    const row = { id: 'later', source: 'webhook', proof: 'signature', body, receivedAt: '2026-01-01T00:00:00Z' };
    const event = eventOfRow(flowIdOf('bridge-transfer', 'any'), row as InboxRow)!;
    return {
      ...event,
      facts: Object.fromEntries(Object.entries(event.facts).filter(([name]) => name !== 'reference')),
    };
  };
  const details = { refund_initiated_at: '2026-01-01T00:00:00Z' };
  test.each([
    ['REFUND_PENDING with a hash', trusted('REFUND_PENDING', { facts: { refundHash: 'ab'.repeat(32) } })],
    ['REFUNDING', trusted('REFUNDING')],
    ['no status and a start', laterBy({ data: { refund_details: details }, event: 'transaction.status.updated' })],
    ['the name refund.initiated and FAILED', laterBy({ event: 'refund.initiated', data: { status: 'FAILED' } })],
    ['an unproven SETTLING with a hash', untrusted('SETTLING', { refundHash: 'ab'.repeat(32) })],
  ])('is left to a person if a later event says that the service has begun its own, by %s', async (_, later) => {
    const { handle, refund } = await refunds.tracked('later');
    await handle.signal('events', [failed()]);
    await handle.signal('events', [later]);
    await refunds.decisions.bench.pass(1_000);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'refund_needed' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each(['REFUND_FAILED'])(
    'is sent if a later event says %s, by which the service has begun none',
    async (word) => {
      const { handle, refund } = await refunds.tracked('later-none');
      await handle.signal('events', [failed(), trusted(word)]);
      await refunds.decisions.bench.pass(1_000);
      await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'refund-accepted'));
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );

  test('is sent if the service has only announced its own', async () => {
    const { handle, refund } = await failedWith('announced', { refund_crypto_amount: 7.5 });
    await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'refund-accepted'));
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });
});
