import { describe, expect, test } from '@jest/globals';
import { bridgeTransferFlow } from '../../src/flows/bridge-transfer.js';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import { flowOf } from '../../src/flows/index.js';
import { labelCallback } from '../../src/gateway/inbound/match-webhook.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { FLOW_KINDS, flowIdOf } from '../../src/protocol/vocabulary.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { ended, entriesOf, inInbox, noted, parked, resolve } from './bench.js';
import { failed, useRefundBench } from './refund-bench.js';
import { trusted } from '../harness/inputs.js';

const read = (body: unknown) => bridgeTransferFlow.readEvent(body);

/** Members that say nothing. */
const NOTHING = { reference_id: null, referenceId: '', currency: null, chain: null, token: '', amount: null };

describe('an event of the bridge', () => {
  test('is read when members are null, an empty text or an empty list', () => {
    const details = { crypto_payment: null, settlement_details: [], failure_details: '', refund_details: null };
    const body = { ...NOTHING, ...details, provider_reference_id: 'r-1', status: 'REFUNDED' };
    expect(read(body)).toEqual({ references: ['r-1'], status: 'REFUNDED', facts: {} });
  });

  test.each([
    ['words in any case', { chain: 'celo', token: 'usdc' }],
    ['objects', { chain: { name: 'Celo' }, token: { symbol: 'USDC', decimals: 6 } }],
  ])('may name chain and token by %s', (_, asset) => {
    const facts = { chain: 'CELO', token: 'USDC' };
    expect(read({ status: 'SETTLING', ...asset })).toMatchObject({ status: 'SETTLING', facts });
    expect(read({ status: 'SETTLING', crypto_payment: asset })).toMatchObject({ status: 'SETTLING', facts });
  });

  test.each([
    { status: 'COMPLETED', failure_details: 'none', refund_details: 'none' },
    { status: 'FAILED', settlement_details: 'none' },
  ])('is read by its status: details of another status may have any form: %j', (body) => {
    expect(read(body)?.facts['body']).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['a status', { status: { code: 'COMPLETED' } }, { body: UNREADABLE }],
    ['the details beside an unknown status', { status: 'constructor', refund_details: 'x' }, { body: UNREADABLE }],
    ['the details of its refund', { status: 'FAILED', refund_details: 'COMPLETED' }, { body: UNREADABLE }],
    ['the details of its payment', { status: 'FAILED', crypto_payment: ['USDC'] }, { body: UNREADABLE }],
    ["its refund's status", { refund_details: { refund_status: true } }, { refundStatus: UNREADABLE }],
    ['when its refund began', { refund_details: { refund_initiated_at: 7 } }, { refundStartedAt: UNREADABLE }],
    ['how it is refunded', { refund_details: { refund_method_used: {} } }, { refundMethodUsed: UNREADABLE }],
    ['the hash of its refund', { refund_details: { refund_payment_hash: ' ? ' } }, { refundHash: UNREADABLE }],
    ['when crypto came in', { crypto_payment: { received_at: 1_700_000_000_000 } }, { cryptoReceivedAt: UNREADABLE }],
    ['a chain', { crypto_payment: { chain: 7 } }, { chain: UNREADABLE }],
    ['a token', { token: ['USDC'] }, { token: UNREADABLE }],
    ['the stage of its failure', { failure_details: { failure_stage: {} } }, { failureStage: UNREADABLE }],
    ['its currency', { status: 'COMPLETED', amount: 50, currency: { code: 'ZAR' } }, { currency: UNREADABLE }],
    ["its settlement's currency", { settlement_details: { currency: {} } }, { settlementCurrency: UNREADABLE }],
  ])('has the fact that %s cannot be read when it is there', (_, body, facts) => {
    expect(read(body)).toMatchObject({ facts });
  });
});

describe('an event of a flow', () => {
  test.each(FLOW_KINDS)('of the kind %s counts as unreadable when its body or its data are no object', (kind) => {
    const seen = (body: unknown) => {
      const row = { id: 'e', source: 'webhook', proof: 'signature', body };
      return eventOfRow(flowIdOf(kind, 'r-1'), row as InboxRow);
    };
    for (const body of [[{ status: 'REFUNDED' }], 'REFUNDED', { event: 'a.name', data: '{"status":"REFUNDED"}' }]) {
      expect(seen(body)).toMatchObject({ status: null, facts: { body: UNREADABLE } });
    }
  });

  test.each(FLOW_KINDS.filter((kind) => kind !== 'kyc-check'))(
    'of the kind %s counts as unreadable when its envelope is empty and no status is beside it',
    (kind) => {
      for (const data of [null, '', []]) {
        expect(flowOf(kind).readEvent({ event: 'a.name', data })).toMatchObject({
          status: null,
          facts: { body: UNREADABLE },
        });
      }
    },
  );

  test('confirms nothing by its name alone: it claims a confirmation, and counts as unreadable', () => {
    const confirmed = { event: 'payment.confirmed', data: [] };
    for (const kind of ['bank-checkout', 'card-deposit', 'invoice-payment'] as const) {
      expect(flowOf(kind).readEvent(confirmed)).toMatchObject({ status: 'CONFIRMED', facts: { body: UNREADABLE } });
    }
  });

  test('is filed as unreadable when it has no status, so that a decision about money sees that', () => {
    const filed = (body: unknown) => labelCallback('bank-checkout', 'r-1', 'bank-checkout/r-1', body).status;
    expect(['text', { status: { code: 'PAID' } }, { event: 'a.name', data: 'PAID' }].map(filed)).toEqual(
      Array(3).fill(UNREADABLE),
    );
    expect([{}, { status: 'PAID', amount: 'much' }].map(filed)).toEqual([null, 'PAID']);
  });

  test('is a bare one when its data are an empty list, and an unread one under its reference when they are a text', () => {
    const body = { event: 'transaction.withdrawal.status.updated', referenceId: 'r-1', status: 'SUCCESS' };
    const read = (data: unknown) => flowOf('bank-withdrawal').readEvent({ ...body, data });
    expect(read([])).toMatchObject({ references: ['r-1'], status: 'SUCCESS', facts: {} });
    expect(read('ok')).toMatchObject({ references: ['r-1'], status: 'SUCCESS', facts: { body: UNREADABLE } });
  });

  test.each(['bank-withdrawal', 'bank-checkout', 'card-deposit'] as const)(
    'of the kind %s has the currency that is in its body',
    (kind) => {
      const currencyIn = (body: object) => flowOf(kind).readEvent({ status: 'SUCCESSFUL', ...body })?.facts['currency'];
      expect(
        [{ currency: ' KES' }, { fiatCurrency: 'KES' }, { currency: {} }, { currency: null }].map(currencyIn),
      ).toEqual(['KES', 'KES', UNREADABLE, undefined]);
    },
  );
});

describe('a bridge transfer with an event that cannot be read', () => {
  const refunds = useRefundBench();

  test('is not refunded by us beside a REFUNDED that has null for a reference and objects for the asset', async () => {
    const { reference, refund, handle } = await refunds.tracked('theirs');
    const asset = { chain: { name: 'Celo' }, token: { name: 'USDC' } };
    const body = { ...NOTHING, ...asset, provider_reference_id: reference };
    await inInbox(refunds.decisions, handle.workflowId, 'REFUNDED', { body });
    await handle.signal('events', [failed()]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
  });

  test.each([
    ['gives true in place of its status', { refund_details: { refund_status: true } }, 'refund_needed'],
    ['is a text', { refund_details: 'refund completed' }, 'event_mismatch'],
  ])('is not refunded by the input alone if the refund of a FAILED %s', async (_, body, reason) => {
    const { refund, handle } = await refunds.tracked('odd-refund');
    await inInbox(refunds.decisions, handle.workflowId, 'FAILED', { body });
    await handle.signal('events', [failed()]);
    expect((await parked(handle)).parked?.reason).toBe(reason);
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each([1_700_000_000_000, '01/02/2026 10:00', true])(
    'does not fail with nothing due, and is not refunded by the input alone, if crypto came in at %j',
    async (received_at) => {
      const { refund, handle } = await refunds.tracked('odd-time');
      const failure_details = { failure_stage: 'deposit' };
      const body = { failure_details, crypto_payment: { received_at } };
      await inInbox(refunds.decisions, handle.workflowId, 'FAILED', { body });
      await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
      const view = await parked(handle);
      expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { cryptoPaid: 'cannot-tell' } });
      expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
      await resolve(handle, 'close-without-refund');
      await ended(handle);
    },
  );

  test('is not refunded by the input alone after a person accepted an event that cannot be read', async () => {
    const { refund, handle } = await refunds.tracked('accepted');
    await handle.signal('events', [trusted('SETTLING', { facts: { body: UNREADABLE } })]);
    await parked(handle);
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    const { parked: question } = await parked(handle);
    const why = 'an accepted event cannot be read in full';
    expect(question).toMatchObject({ reason: 'refund_needed', evidence: { why } });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('does not fail with nothing due against a second FAILED whose stage cannot be read', async () => {
    const { refund, handle } = await refunds.tracked('odd-stage');
    const body = { failure_details: { failure_stage: { code: 'settlement' } } };
    await inInbox(refunds.decisions, handle.workflowId, 'FAILED', { body });
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    expect((await parked(handle)).parked).toMatchObject({ evidence: { cryptoPaid: 'cannot-tell' } });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('is not called completed by an amount in a currency that cannot be read', async () => {
    const { handle } = await refunds.tracked('odd-currency');
    await handle.signal('events', [trusted('COMPLETED', { facts: { amount: '50', currency: UNREADABLE } })]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['amount'] },
    });
    await handle.terminate();
  });

  test('asks a person about a trusted event whose status cannot be read, and goes on once that is dismissed', async () => {
    const { handle } = await refunds.tracked('odd-status');
    await handle.signal('events', [trusted('COMPLETED', { status: null, facts: { body: UNREADABLE } })]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['body'], theirs: { body: UNREADABLE } },
    });
    await resolve(handle, 'dismiss-event');
    await handle.signal('events', [trusted('COMPLETED')]);
    const { view } = await noted(handle, 'event-applied', 'COMPLETED');
    // A callback is the service's word.
    expect(entriesOf(view, 'event-applied', 'COMPLETED')).toMatchObject([{ by: 'service' }]);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });
});
