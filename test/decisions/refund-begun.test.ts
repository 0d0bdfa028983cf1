import { describe, expect, test } from '@jest/globals';
import { bridgeTransferFlow } from '../../src/flows/bridge-transfer.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { parked, resolve } from './bench.js';
import { useRefundBench } from './refund-bench.js';

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

  test('is sent if the service has only announced its own', async () => {
    const { handle, refund } = await failedWith('announced', { refund_crypto_amount: 7.5 });
    await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'refund-accepted'));
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });
});
