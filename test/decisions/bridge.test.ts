import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DuplicateReferenceError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { ended, noted, openDecisionBench, parked, resolve } from './bench.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { bolt11 } from '../flows/bolt11.js';
import { untilFlow } from '../harness/reports.js';

const SETTLEMENT_FAILED = { facts: { refundAnnounced: 'true', failureStage: 'settlement' } };

describe('a bridge transfer that failed', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let refundConfig: Record<string, unknown> = {};
  let duplicates = 0;
  let isDuplicate = false;
  const lookedUp: string[] = [];
  /** What happens when the answer of a refund is lost, which the service never executes. */
  let atLostRefund: (() => Promise<unknown>) | undefined;
  let refundSends = 0;
  beforeAll(async () => {
    decisions = await openDecisionBench(
      (service) => ({
        createBridgeDeposit: async (body) => {
          const answer = await service.createBridgeDeposit(body);
          return { ...answer, refund_config: { ...answer.refund_config, ...refundConfig } };
        },
        sendCrypto: async (body) => {
          refundSends += 1;
          if (atLostRefund !== undefined) {
            await atLostRefund();
            throw new UnknownOutcomeError('sendCrypto', 'timeout');
          }
          if (!isDuplicate) return service.sendCrypto(body);
          duplicates += 1;
          throw new DuplicateReferenceError('sendCrypto', 409);
        },
        getCryptoSend: (reference) => {
          lookedUp.push(reference);
          return service.getCryptoSend(reference);
        },
      }),
      { repeatSettingOf: () => 'rejected' },
    );
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start({ ...input, ...more });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { refund: `${reference}.refund`, handle };
  };

  test('is followed also when its claim records the deposit as made, and no answer to it ever came', async () => {
    jest.spyOn(decisions.store.claims, 'reserve').mockResolvedValueOnce({ kind: 'answered', answer: null });
    const { handle } = await tracked('never-answered');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('fault 51: after an unverified COMPLETED is not refunded by ourselves: it parks with the claim in the evidence', async () => {
    const { refund, handle } = await tracked('vetoed');
    const claim = trusted('COMPLETED', { trusted: false, proof: null, source: 'settlement' });
    await handle.signal('events', [claim, trusted('FAILED', SETTLEMENT_FAILED)]);
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { claimed: [{ id: claim.id }] } });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('after an unverified COMPLETED is not called failed with nothing due, either', async () => {
    const { handle } = await tracked('vetoed-early');
    const claim = trusted('COMPLETED', { trusted: false, proof: null, source: 'settlement' });
    await handle.signal('events', [claim, trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    const why = 'an unverified event claims another ending than the one that is proven';
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'conflict',
      evidence: { proven: ['FAILED'], claimed: [{ id: claim.id }], why },
    });
    await handle.terminate();
  });

  test.each([
    ['an unverified event says that less came in', false, { cryptoAmount: '5' }, 'SETTLING'],
    ["a trusted FAILED says that the service's own refund is done", true, { refundStatus: 'COMPLETED' }, 'FAILED'],
    ['a trusted FAILED says that less is to go back', true, { refundCryptoAmount: '5' }, 'FAILED'],
  ] as const)(
    'does not send a lost refund again by a setting if this came: %s',
    async (_, isTrusted, facts, status) => {
      const { handle } = await tracked('not-again');
      refundSends = 0;
      const event = trusted(status, { facts, trusted: isTrusted, proof: isTrusted ? 'capability' : null });
      atLostRefund = async () => {
        if (refundSends === 1) await handle.signal('events', [event]);
      };
      await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
      expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
      expect(refundSends).toBe(1);
      atLostRefund = undefined;
      await handle.terminate();
    },
  );

  test.each([
    ['PAYMENT_SENT', {}],
    ['PAYMENT_CONFIRMED', {}],
    ['SETTLING', {}],
    ['settling', {}],
    ['FAILED', { cryptoReceivedAt: '2026-01-01T00:00:00Z' }],
    ['FAILED', { refundAnnounced: 'true' }],
    ['A_WORD_OF_TOMORROW', { cryptoReceivedAt: '2026-01-01T00:00:00Z' }],
  ])('early is not called "no refund due" against an unverified %s %j, in any order', async (status, facts) => {
    const early = trusted('FAILED', { facts: { failureStage: 'collection' } });
    const claim = trusted(status, { trusted: false, proof: null, source: 'settlement', facts });
    const other = () => trusted('DEPOSIT_INITIATED', { trusted: false, proof: null, source: 'settlement' });
    const flood = Array.from({ length: 30 }, other);
    for (const events of [
      [early, claim],
      [claim, early],
      [...flood, claim, early],
    ]) {
      const { refund, handle } = await tracked('paid-claimed');
      await handle.signal('events', events);
      await decisions.bench.pass(1_000);
      await untilFlow(handle, ({ view }) => view.state === 'parked' || view.outcome !== null);
      const { parked: shown } = (await handle.query<FlowReport>('flow')).view;
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { cryptoPaid: 'cannot-tell' } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    }
  });

  test('early is not called "no refund due" against the time of the payment in a trusted event of another status', async () => {
    const { handle } = await tracked('paid-by-the-way');
    const facts = { cryptoReceivedAt: '2026-01-01T00:00:00Z' };
    await handle.signal('events', [
      trusted('A_WORD_OF_TOMORROW', { facts }),
      trusted('FAILED', { facts: { failureStage: 'collection' } }),
    ]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding' || view.outcome !== null);
    expect((await handle.query<FlowReport>('flow')).view.outcome).toBeNull();
    await handle.terminate();
  });

  test.each([
    ['more than came in', { refund_crypto_amount: '750000' }, /7\.5 USDC was paid in/],
    ['another token', { token: 'USDT' }, /USDC was paid in, and the refund is in USDT/],
    ['another chain', { chain: 'ETHEREUM' }, /paid in on CELO/],
    ['an address of another method', { fallback_method: 'lightning_invoice' }, /address for "LIGHTNING_INVOICE"/],
    ['an address of no known method', { fallback_method: null, primary_method: null }, /address for "no method"/],
    ['an amount on no known chain', { chain: undefined }, /no chain or token/],
    ['an amount in no known token', { token: undefined }, /no chain or token/],
  ])('fault 52: is not refunded by %s', async (_, config, why) => {
    refundConfig = config;
    const { refund, handle } = await tracked('terms');
    refundConfig = {};
    await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(why) } });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('fault 52: is not refunded in MSAT by an amount in bitcoins', async () => {
    refundConfig = { refund_crypto_amount: '0.0001', token: 'MSAT', chain: 'LIGHTNING', fallback_method: null };
    const crypto_payment = { amount_msat: '10000000', crypto_amount: '0.0001' };
    const { refund, handle } = await tracked('msat', { chain: 'LIGHTNING', token: 'MSAT', crypto_payment });
    refundConfig = {};
    await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { code: 'refund_not_sendable' },
    });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each([
    ['has expired', async () => bolt11({ amountMsat: 5_000, createdAtMs: Date.now() - 7_200_000 })],
    ['is used for another payment', usedElsewhere],
  ])('is not refunded to a payment request that %s: a person is asked, and nothing was sent', async (_, invoiceOf) => {
    const terms = {
      token: 'MSAT',
      chain: 'LIGHTNING',
      refund_crypto_amount: '5000',
      fallback_method: 'lightning_invoice',
    };
    refundConfig = { ...terms, fallback_address: await invoiceOf() };
    const crypto_payment = { amount_msat: '5000', crypto_amount: '5000' };
    const { refund, handle } = await tracked('invoice', { chain: 'LIGHTNING', token: 'MSAT', crypto_payment });
    refundConfig = {};
    await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
    await noted(handle, 'sending-refund');
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { code: 'refund_not_sendable' } });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  async function usedElsewhere(): Promise<string> {
    const paymentHash = randomBytes(32).toString('hex');
    const debt = { account: 'default', operation: 'sendCrypto', reference: newReference('elsewhere') };
    await decisions.store.debts.take(paymentHash, debt);
    return bolt11({ amountMsat: 5_000, paymentHash });
  }

  test('without a word of its stage is not called "no refund due": the one of the service is awaited, then a person', async () => {
    const { refund, handle } = await tracked('bare');
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED'), trusted('FAILED')]);
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { cryptoPaid: 'cannot-tell' } });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test.each([
    ['for a day', () => ({ expires_at: new Date(Date.now() + 20 * 3_600_000).toISOString() })],
    ['for a week', () => ({ expires_at: new Date(Date.now() + 7 * 86_400_000).toISOString() })],
    ['until a time that cannot be read', () => ({ expires_at: 'tomorrow' })],
  ])('parks at its deadline if the service may still refund %s, and sends no refund before that', async (_, config) => {
    refundConfig = config();
    const { refund, handle } = await tracked('a-day', { deadlineSeconds: 3_600 });
    refundConfig = {};
    await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
    await decisions.bench.pass(7_200);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { code: 'service_may_refund' },
    });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('sends its refund once when the service answers DUPLICATE and its lookup finds nothing, whatever the setting', async () => {
    isDuplicate = true;
    duplicates = 0;
    const { refund, handle } = await tracked('duplicate');
    await handle.signal('events', [trusted('FAILED', SETTLEMENT_FAILED)]);
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    expect(duplicates).toBe(1);
    // "Shows nothing" is its answer, and not what is assumed of it.
    expect(lookedUp).toContain(refund);
    isDuplicate = false;
    await handle.terminate();
  });

  test.each([
    [{ settlementAmount: '90', settlementCurrency: 'ZAR' }, 'The recipient was paid 90 of 100 ZAR.'],
    [{ amount: '90', currency: 'ZAR' }, 'The recipient was paid 90 of 100 ZAR.'],
    [{ settlementCurrency: 'USD' }, 'The recipient was paid 100 USD, not 100 ZAR.'],
  ])('that ends after all, by an accepted COMPLETED of %j, has the figures in its outcome', async (facts, sentence) => {
    const { handle } = await tracked('figures');
    await handle.signal('events', [trusted('COMPLETED', { facts })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    expect(await ended(handle)).toMatchObject({ state: 'completed', outcome: { detail: sentence } });
  });
});
