import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import {
  NotSentError,
  RejectedError,
  type ServiceClient,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { untilFlow } from '../harness/reports.js';
import { bolt11 } from '../flows/bolt11.js';
import { ended, entriesOf, noted, openDecisionBench, parked, resolve } from './bench.js';

const OURS = 'ab'.repeat(32);
const DAY_MS = 86_400_000;
const FAILED = { facts: { refundAnnounced: 'true', failureStage: 'settlement' } };

describe('the deposit of a bridge transfer', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** What the service answers besides, or throws. */
  let answered: Record<string, unknown> | Error = {};
  /** How often its quote yet expires before it is sent. */
  let expired = 0;
  let monotonicMs = 0;
  /** How much crypto each further quote gives. */
  let offered: readonly number[] = [];
  /** Ids of the quotes that deposits came with. */
  let rates: unknown[] = [];
  beforeAll(async () => {
    const replaced = (service: ServiceClient): Partial<ServiceClient> => ({
      quoteBridge: async (body) => {
        const [crypto_amount, ...rest] = offered;
        offered = rest;
        return { ...(await service.quoteBridge(body)), ...(crypto_amount && { crypto_amount: String(crypto_amount) }) };
      },
      createBridgeDeposit: async (body) => {
        rates.push(body.rate_id);
        if (expired > 0) {
          expired -= 1;
          // Its connection took longer than the quote lived.
          monotonicMs += 60_000;
          throw new NotSentError('createBridgeDeposit', 'expired');
        }
        if (answered instanceof Error) throw answered;
        return { ...(await service.createBridgeDeposit(body)), ...answered };
      },
    });
    decisions = await openDecisionBench(replaced, { monotonicMs: () => monotonicMs });
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    return { reference, handle: await decisions.bench.start({ ...input, ...more }) };
  };

  test("is followed under the service's own reference, and its answer is the caller's", async () => {
    answered = { kotani_reference_id: 'service-7', status: 'PENDING' };
    const { handle } = await start('accepted');
    const answer = { kotani_reference_id: 'service-7' };
    expect(await handle.executeUpdate('answer')).toMatchObject({ kind: 'accepted', answer });
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(view).toMatchObject({ serviceReference: 'service-7', state: 'running' });
    expect(view.timeline.slice(-2)).toMatchObject([
      { stage: 'depositing', by: 'flow', code: 'sending' },
      { stage: 'tracking', by: 'service', code: 'accepted' },
    ]);
    await handle.terminate();
  });

  test('that an event proves has no answer for its caller', async () => {
    answered = new UnknownOutcomeError('createBridgeDeposit', 'timeout');
    const { handle } = await start('proven');
    await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED')]);
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(view.timeline.at(-1)).toMatchObject({ by: 'service', code: 'proven' });
    expect(await handle.executeUpdate('answer')).toMatchObject({ kind: 'none' });
    await handle.terminate();
  });

  test.each([undefined, 'LIMIT'])(
    'that is refused has by whom, the text and the code %s in its outcome',
    async (code) => {
      const refusal = {
        httpStatus: 422,
        message: 'above limit',
        fields: [],
        isRateExpired: false,
        isAboutReference: false,
      };
      answered = new RejectedError('createBridgeDeposit', { ...refusal, ...(code && { code }) });
      const { handle } = await start('refused');
      expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
      const answer = await handle.executeUpdate<object, []>('answer').catch(() => undefined);
      expect(answer === undefined || 'code' in answer).toBe(true);
    },
  );

  test('whose claim is void was given up before: the flow fails as not executed', async () => {
    answered = {};
    jest.spyOn(decisions.store.claims, 'reserve').mockResolvedValueOnce({ kind: 'void', reason: 'given up' } as never);
    const { reference, handle } = await start('void');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(await decisions.executions('createBridgeDeposit', reference)).toBe(0);
    jest.restoreAllMocks();
  });

  describe('whose quote expired before it was sent', () => {
    const requoted = async (times: number, gives: readonly number[], more: Record<string, unknown> = {}) => {
      answered = {};
      [expired, offered, rates] = [times, gives, []];
      const { reference, handle } = await start('requoted', more);
      const { view } = await untilFlow(
        handle,
        (report) => report.view.stage === 'tracking' || report.view.outcome !== null,
      );
      await handle.terminate().catch(() => undefined);
      const [, ...requotes] = entriesOf(view, 'quoted');
      expect(new Set(rates).size).toBe(rates.length);
      const executions = await decisions.executions('createBridgeDeposit', reference);
      return { sent: rates.length, requotes: requotes.length, executions, end: view.outcome?.reason ?? null };
    };

    test('is quoted again three times at most, each time with the newest quote, and fails with nothing sent', async () => {
      expect(await requoted(3, [])).toEqual({ sent: 4, requotes: 3, executions: 1, end: null });
      expect(await requoted(4, [])).toEqual({
        sent: 4,
        requotes: 3,
        executions: 0,
        end: 'quote_rejected',
      });
    });

    test('takes a new quote only if it gives hardly less than the one that was agreed to', async () => {
      expect(await requoted(1, [7.5, 7.45])).toMatchObject({ requotes: 1, executions: 1 });
      expect(await requoted(2, [7.5, 7.45, 7.4])).toMatchObject({
        requotes: 1,
        executions: 0,
        end: 'quote_rejected',
      });
    });

    test('is not quoted again if it came with a quote whose figures are not known', async () => {
      expect(await requoted(1, [], { rate_id: 'rate-of-the-caller' })).toEqual({
        sent: 1,
        requotes: 0,
        executions: 0,
        end: 'quote_rejected',
      });
    });
  });

  describe('over Lightning', () => {
    const lightning = (crypto_payment: object) => ({ chain: 'LIGHTNING', token: 'MSAT', crypto_payment });
    const notSent = async ({ reference, handle }: Awaited<ReturnType<typeof start>>) => {
      expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'invalid_input' } });
      expect(await decisions.executions('createBridgeDeposit', reference)).toBe(0);
    };

    test('is not made if another deposit awaits the same payment: nothing was sent, and the flow ends', async () => {
      answered = {};
      const paymentHash = randomBytes(32).toString('hex');
      const invoice = bolt11({ amountMsat: 5_000, paymentHash });
      const first = await start('first-debt', lightning({ payment_hash: paymentHash, amount_msat: '5000' }));
      await untilFlow(first.handle, ({ view }) => view.stage === 'tracking');
      await notSent(await start('second-debt', lightning({ bolt11: invoice.toUpperCase() })));
      expect(await decisions.executions('createBridgeDeposit', first.reference)).toBe(1);
      await first.handle.terminate();
    });

    test('is not made if its payment request expired while its quote waited for the approval', async () => {
      answered = {};
      const createdAtMs = Date.now() - 3_600_000 + 2_000;
      const invoice = bolt11({ amountMsat: 5_000, createdAtMs });
      const made = await start('expired', { ...lightning({ bolt11: invoice }), approval: 'required' });
      await untilFlow(made.handle, ({ view }) => view.stage === 'awaiting-approval');
      await until('the invoice to expire', () => Date.now() > createdAtMs + 3_600_000);
      await made.handle.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
      await notSent(made);
    });

    test.each([
      ['that is none', { bolt11: 'lnbc1' }],
      ['of another payment than its hash', { bolt11: bolt11({ amountMsat: 5_000 }), payment_hash: OURS }],
      ['over another amount', { bolt11: bolt11({ amountMsat: 5_000 }), amount_msat: '5001' }],
    ])('is refused with an invoice %s', async (_, crypto_payment) => {
      await notSent(await start('inconsistent', lightning(crypto_payment)));
    });
  });

  describe('for a payment hash', () => {
    const crypto_payment = { payment_hash: OURS, crypto_amount: '7.5' };

    test.each([OURS.toUpperCase(), `0x${OURS}`, ` ${OURS}`, null])(
      'is ours if the answer names it as "%s"',
      async (payment_hash) => {
        answered = { payment_hash };
        const { handle } = await start('same-hash', { crypto_payment });
        await untilFlow(handle, ({ view }) => view.stage === 'tracking');
        await handle.terminate();
      },
    );

    test.each([
      ['another one', 'cd'.repeat(32), 'cd'.repeat(32)],
      ['one that cannot be read', 'not a hash', UNREADABLE],
    ])('is not ours if the answer names %s: a person sees both, and what was proven since', async (...row) => {
      const [, payment_hash, theirs] = row;
      answered = { payment_hash };
      const { handle } = await start('other-hash', { crypto_payment });
      expect((await parked(handle)).parked).toMatchObject({
        reason: 'conflict',
        evidence: {
          code: 'other_record',
          ours: { 'crypto_payment.payment_hash': OURS },
          theirs: { 'crypto_payment.payment_hash': theirs },
          reported: [],
        },
      });
      expect(await handle.executeUpdate('answer')).toEqual({ kind: 'none', reason: 'conflict' });
      await resolve(handle, 'mark-failed');
      expect(await ended(handle)).toMatchObject({ state: 'failed' });
    });

    test('that is no hash proves nothing about the owner of the deposit', async () => {
      answered = { payment_hash: 'cd'.repeat(32) };
      const { handle } = await start('no-hash', {
        crypto_payment: { payment_hash: 'invoice-1', crypto_amount: '7.5' },
      });
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      await handle.terminate();
    });
  });

  test.each([
    ['abcdefghijkl', '…'],
    ['abcdefghijklm', 'abcdef…jklm'],
  ])('that fails shows a person hardly more than the ends of the address of its refund: %s as %s', async (...row) => {
    const [fallback_address, shown] = row;
    const method = { primary_method: 'address', fallback_method: 'address' };
    const refund_config = { ...method, fallback_address, chain: 'CELO', token: 'USDC', refund_crypto_amount: '7.5' };
    answered = { refund_config };
    const { handle } = await start('masked', { refund: { auto: false } });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED', FAILED)]);
    await decisions.bench.pass(2_000);
    const { parked: question } = await parked(handle);
    expect(question).toMatchObject({ reason: 'refund_needed', evidence: { refund: { receiverAddress: shown } } });
    await handle.terminate();
  });

  /** How long the service may refund by itself, by the answer to the deposit: from then on we do. Scaled to a thousandth. */
  describe('that fails is refunded by us', () => {
    const created_at = '2026-01-01T00:00:00.000Z';
    const at = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString();
    test.each([
      ['a quarter of an hour if the answer names no end', undefined, DAY_MS / 96],
      ['a quarter of an hour if its end is empty', '', DAY_MS / 96],
      ['the time that the answer gives', at(DAY_MS / 12), DAY_MS / 12],
      ['a day if its end is no later than its beginning', at(0), DAY_MS],
      ['a day if its end cannot be read', 'soon', DAY_MS],
    ])('after %s', async (_, expires_at, lifeMs) => {
      const refund_config = {
        primary_method: 'crypto_address',
        fallback_method: 'crypto_address',
        fallback_address: '0x2222222222222222222222222222222222222222',
        chain: 'CELO',
        token: 'USDC',
        refund_crypto_amount: '7.5',
        ...(expires_at === undefined ? {} : { expires_at }),
      };
      answered = { created_at, refund_config };
      const { reference, handle } = await start('refund-life');
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      await handle.signal('events', [trusted('FAILED', FAILED)]);
      const { view } = await untilFlow(handle, (report) => report.view.stage === 'refunding');
      const sendsAt = async () => {
        const { view: now } = await noted(handle, 'refund-accepted');
        return Date.parse(entriesOf(now, 'sending-refund')[0]?.at ?? '');
      };
      await decisions.bench.pass((lifeMs / 1_000) * 1.5);
      const waitedMs = (await sendsAt()) - Date.parse(view.updatedAt);
      expect(waitedMs).toBeGreaterThanOrEqual(lifeMs / 1_000 - 5);
      expect(waitedMs).toBeLessThan((lifeMs / 1_000) * 1.5);
      expect(await decisions.executions('sendCrypto', `${reference}.refund`)).toBe(1);
      await handle.terminate();
    });
  });
});
