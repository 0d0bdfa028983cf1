import { describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { entriesOf, inInbox, noted, parked, resolve, READING_MS } from './bench.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { failed, untrusted, useRefundBench } from './refund-bench.js';

describe('a refund that the input orders, and what came in', () => {
  const refunds = useRefundBench();
  const { tracked, sent } = refunds;

  test('is not sent automatically if less came in than was requested, and a person sends no more than that', async () => {
    const { refund, handle } = await tracked('less');
    await handle.signal('events', [trusted('PAYMENT_CONFIRMED', { facts: { cryptoAmount: '5' } })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    await noted(handle, 'parked', 'refund_needed');
    const { parked: shown } = await parked(handle);
    expect(shown?.evidence).toMatchObject({
      code: 'less_came_in',
      refund: { cryptoAmount: '5' },
    });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(sent).toEqual([5]);
    await handle.terminate();
  });

  test("cannot be sent after an accepted event whose amount cannot be read, by any person's order", async () => {
    const { refund, handle } = await tracked('unread');
    await handle.signal('events', [trusted('PAYMENT_CONFIRMED', { facts: { cryptoAmount: UNREADABLE } })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    for (const times of [1, 2]) {
      await noted(handle, 'parked', 'refund_needed');
      expect((await parked(handle)).parked?.evidence).toMatchObject({ code: 'amount_unreadable', refund: null });
      if (times === 1)
        await expect(resolve(handle, 'refund-now')).rejects.toMatchObject({ cause: { type: 'amount_unreadable' } });
    }
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each([
    ['PAYMENT_CONFIRMED', { cryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    ['FAILED', { cryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    // No fact of the input differs from it, and a trusted event of its status is there.
    ['FAILED', { refundCryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    ['SETTLING', { cryptoAmount: UNREADABLE }, /an unverified event .* cannot be read/],
    ['SETTLING', { token: 'USDT' }, /an unverified event says that USDT came in/],
  ])('is held back by an untrusted %s with %j about what came in, before or after the others', async (...row) => {
    const [status, facts, why] = row;
    const proof = [trusted('PAYMENT_CONFIRMED'), failed()];
    const claim = untrusted(status, facts);
    const flood = Array.from({ length: 30 }, () => untrusted('DEPOSIT_INITIATED'));
    for (const events of [
      [claim, ...proof],
      [...proof, claim],
      [...flood, claim, ...proof],
    ]) {
      const { refund, handle } = await tracked('less-claimed');
      await handle.signal('events', events);
      await refunds.decisions.bench.pass(1_000);
      await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
      expect(sent).toEqual([]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(why) } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    }
  });

  test('is sent in spite of an untrusted amount by the order of a person who has seen it', async () => {
    const { refund, handle } = await tracked('less-seen');
    await handle.signal('events', [untrusted('SETTLING', { cryptoAmount: '5' }), failed()]);
    await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
    expect((await parked(handle)).parked?.reason).toBe('refund_needed');
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test.each(['SETTLING', 'PAYMENT_CONFIRMED', 'DEPOSIT_CONFIRMED'])(
    'is not sent as ordered if a trusted %s reports that less came in, while the service cannot be reached',
    async (status) => {
      const { reference, refund, handle } = await tracked('less-meanwhile');
      const body = {
        provider_reference_id: reference,
        crypto_payment: { chain: 'CELO', token: 'USDC', crypto_amount: '5' },
      };
      refunds.meanwhile = () => inInbox(refunds.decisions, handle.workflowId, status, { body });
      await handle.signal('events', [failed()]);
      await untilFlow(handle, ({ view }) => view.parked !== null || view.stage === 'done' || sent.length > 0);
      expect(sent).toEqual([]);
      expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
      await resolve(handle, 'accept-event');
      await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
      await resolve(handle, 'refund-now');
      await noted(handle, 'refund-accepted');
      expect(sent).toEqual([5]);
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );

  test('is not sent as ordered if an untrusted SETTLING reports that less came in, while the service cannot be reached', async () => {
    const { reference, refund, handle } = await tracked('less-claimed-meanwhile');
    const body = {
      provider_reference_id: reference,
      crypto_payment: { chain: 'CELO', token: 'USDC', crypto_amount: '5' },
    };
    refunds.meanwhile = () => inInbox(refunds.decisions, handle.workflowId, 'SETTLING', { body, proof: null });
    await handle.signal('events', [failed()]);
    await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
    expect(sent).toEqual([]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { code: 'less_came_in' },
    });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each([
    ['trusted', 'capability'],
    ['untrusted', null],
  ] as const)('is sent without a person if a %s event that contradicts nothing comes meanwhile', async (_, proof) => {
    const { reference, refund, handle } = await tracked('harmless-meanwhile');
    const body = { provider_reference_id: reference };
    refunds.meanwhile = () => inInbox(refunds.decisions, handle.workflowId, 'SETTLING', { body, proof });
    await handle.signal('events', [failed()]);
    const { view } = await noted(handle, 'refund-accepted');
    expect(entriesOf(view, 'parked')).toEqual([]);
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('that is ordered again is not sent after a trusted event has lowered what may be sent back', async () => {
    refunds.isLost = true;
    const { handle } = await tracked('less-again');
    await handle.signal('events', [failed()]);
    await refunds.decisions.bench.pass(READING_MS);
    await noted(handle, 'parked', 'refund_unknown');
    await handle.signal('events', [failed({ refundCryptoAmount: '5' })]);
    const ordered = resolve(handle, 'send-again').catch((error: Error) => error.cause);
    await refunds.decisions.bench.pass(READING_MS);
    // It is another question by then, or is refused for that reason.
    expect(await ordered).toMatchObject({
      type: expect.stringMatching(/^(less_came_in|flow_moved_on|unknown_action)$/),
    });
    const isBack = ({ view }: FlowReport) => entriesOf(view, 'parked').length > 1;
    await untilFlow(handle, (report) => isBack(report) || sent.length > 1);
    expect(sent).toEqual([7.5]);
    refunds.isLost = false;
    await handle.terminate();
  });

  test('is held back by an amount in a trusted event of an unknown status that a person accepted', async () => {
    const { refund, handle } = await tracked('unknown-word');
    await handle.signal('events', [trusted('CRYPTO_COUNTED', { facts: { cryptoAmount: '5' } })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed' || sent.length > 0);
    expect(sent).toEqual([]);
    expect((await parked(handle)).parked?.evidence).toMatchObject({ refund: { cryptoAmount: '5' } });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });
});
