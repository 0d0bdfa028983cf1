import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/clock.js';
import { pinOf } from '../../activities/claims.js';
import { createRefundActivities, createRefundInvoiceActivities } from '../../activities/refund.js';
import type { RefundOrder } from '../../activities/types.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { bolt11, invoiceOf, PAYEE, usualFields, type Bolt11 } from '../flows/bolt11.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, SCHEDULED_AT_MS } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

describe('submitRefund', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const orderOf = async (more: Partial<RefundOrder> = {}): Promise<RefundOrder> => {
    const reference = newReference('refund');
    return {
      flowId: `bridge-transfer/${reference}`,
      by: 'person',
      reviewedEventIds: [],
      pin: await pinOf({ store, account: 'default' }),
      reference: `${reference}.refund`,
      receiverAddress: '0x1111111111111111111111111111111111111111',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '7.5',
      ...more,
    };
  };
  type Service = NonNullable<Parameters<typeof depsOver>[1]>['service'];
  const submit = (order: RefundOrder, service: Service, afterMs = 0) => {
    const clock = { ...systemClock, nowMs: () => SCHEDULED_AT_MS + afterMs };
    return asActivity(() => createRefundActivities(depsOver(store, { service: service!, clock })).submitRefund(order));
  };

  it('sends crypto under the reference of the refund, in the time that its flow allows', async () => {
    const sent: unknown[] = [];
    const sendCrypto = async (...given: readonly unknown[]) => {
      sent.push(...given);
      return { id: 'S-1' };
    };
    const order = await orderOf({ mostMs: 4_000 });
    const { outcome, fingerprint } = await submit(order, { sendCrypto });
    expect(outcome).toEqual({ kind: 'accepted', answer: { id: 'S-1' }, recorded: true });
    const { receiverAddress, chain, token, reference, flowId } = order;
    expect(sent).toEqual([
      { receiverAddress, chain, token, cryptoAmount: 7.5, referenceId: reference },
      expect.objectContaining({ mostMs: 4_000, stillValid: expect.any(Function) }),
    ]);
    const key = { account: 'default', operation: 'sendCrypto', reference };
    expect(await store.claims.get(key)).toMatchObject({ phase: 'answered', flowId, fingerprint });
  });

  it('returns quote-expired, and sends nothing, if no worker came to it for longer than its decision stands', async () => {
    const order = await orderOf();
    const { outcome } = await submit(order, {}, 300_000);
    expect(outcome).toEqual({ kind: 'quote-expired' });
    const key = { account: 'default', operation: 'sendCrypto', reference: order.reference };
    expect(await store.claims.get(key)).toMatchObject({ phase: 'reserved', sent: 'nothing' });
  });

  it('sends once for a smaller amount, too, and returns unknown for another receiver, chain or token', async () => {
    const order = await orderOf();
    let sent = 0;
    const service = { sendCrypto: async () => ({ n: (sent += 1) }) };
    const first = await submit(order, service);
    const less = await submit({ ...order, cryptoAmount: '7' }, service);
    expect(less).toEqual(first);
    for (const more of [{ receiverAddress: '0x2' }, { chain: 'BASE' }, { token: 'USDT' }]) {
      expect((await submit({ ...order, ...more }, service)).outcome).toMatchObject({ kind: 'unknown' });
    }
    expect(sent).toBe(1);
  });

  /** The answer to the first send was lost, and a person orders another one. */
  const orderedAgain = async (getCryptoSend: () => Promise<unknown>, more: Partial<RefundOrder> = {}) => {
    const order = await orderOf(more);
    let sent = 0;
    const sendCrypto = async () => {
      sent += 1;
      if (sent === 1) throw new UnknownOutcomeError('sendCrypto', 'timeout');
      return { id: 'S-2' };
    };
    const service = { sendCrypto, getCryptoSend };
    expect((await submit(order, service)).outcome).toMatchObject({ kind: 'unknown' });
    const key = { account: 'default', operation: 'sendCrypto', reference: order.reference };
    await store.claims.orderSendAgain(key, 'again', { actor: 'ada', note: 'n' });
    const again = await submit(order, service).catch((thrown: unknown) => ({ outcome: { thrown } }));
    return { ...again.outcome, sent };
  };
  const record = {
    status: 'PENDING',
    cryptoAmount: 7.5,
    cryptoWallet: '0x1111111111111111111111111111111111111111',
    chain: { name: 'CELO' },
    token: { symbol: 'USDC' },
  };
  const refusal = { httpStatus: 403, fields: [], isRateExpired: false, isAboutReference: false };
  const forbidden = () => Promise.reject(new RejectedError('getCryptoSend', refusal));

  it('looks up the refund before it sends again: a record with its facts is its answer, another one a duplicate', async () => {
    const shown = await orderedAgain(async () => record);
    expect(shown).toMatchObject({ kind: 'accepted', answer: record, byLookup: true, sent: 1 });
    const other = await orderedAgain(async () => ({ ...record, cryptoAmount: 8 }));
    expect(other).toMatchObject({ kind: 'duplicate', sent: 1 });
  });

  it('sends again after a refused lookup only if the person who ordered it was shown that', async () => {
    expect(await orderedAgain(forbidden)).toMatchObject({ thrown: { type: 'not_sent' }, sent: 1 });
    expect(await orderedAgain(forbidden, { unasked: true })).toMatchObject({ kind: 'accepted', sent: 2 });
  });

  describe('with an event in the inbox of its flow', () => {
    const refundAgainst = async (
      event: { readonly status: string | null; readonly proof: 'capability' | null },
      more: { readonly by: RefundOrder['by']; readonly isReviewed?: boolean },
    ) => {
      const order = await orderOf({ by: more.by });
      const { flowId } = order;
      const { id } = await store.inbox.receive(anEvent({ flowId, ...event, contentHash: flowId }));
      let sent = 0;
      const reviewedEventIds = more.isReviewed === true ? [id] : [];
      const { outcome } = await submit(
        { ...order, reviewedEventIds },
        { sendCrypto: async () => ({ n: (sent += 1) }) },
      );
      return { kind: outcome.kind, sent };
    };
    const stopped = { kind: 'contradicted', sent: 0 };
    const accepted = { kind: 'accepted', sent: 1 };

    it.each([
      ['trusted FAILED', 'FAILED', 'capability', 'person'],
      ['untrusted FAILED', 'FAILED', null, 'input'],
      ['trusted PROCESSING', 'PROCESSING', 'capability', 'person'],
      ['trusted one without a status', null, 'capability', 'person'],
    ] as const)('sends nothing against a %s that its flow has not reviewed', async (_, status, proof, by) => {
      const event = { status, proof };
      expect(await refundAgainst(event, { by })).toEqual(stopped);
      expect(await refundAgainst(event, { by, isReviewed: true })).toEqual(accepted);
    });

    it.each(['COMPLETED', 'REFUNDED'])('sends nothing against a trusted %s', async (status) => {
      expect(await refundAgainst({ status, proof: 'capability' }, { by: 'input' })).toEqual(stopped);
    });

    it.each(['COMPLETED', 'REFUNDED'])(
      'sends nothing against an untrusted %s by the input alone, and sends if a person orders it',
      async (status) => {
        expect(await refundAgainst({ status, proof: null }, { by: 'input' })).toEqual(stopped);
        expect(await refundAgainst({ status, proof: null }, { by: 'person' })).toEqual(accepted);
      },
    );
  });
});

describe('checkRefundInvoice', () => {
  const DUE = { dueMsat: '2100000', mostMsat: '2100000' };
  let store: Store;
  withTemporaryStore((opened) => (store = opened));
  const check = (
    invoice: Partial<Bolt11> | string,
    due: { readonly dueMsat: string | null; readonly mostMsat: string | null } = DUE,
    serviceIsOnLoopback = false,
    flowId = `offramp/${newReference('refunded')}`,
    given: readonly string[] = [],
  ) => {
    const text = typeof invoice === 'string' ? invoice : bolt11({ amountMsat: 2_100_000, ...invoice });
    const made = createRefundInvoiceActivities(depsOver(store, { serviceIsOnLoopback }));
    return made.checkRefundInvoice({ flowId, invoice: text, given, ...due });
  };
  const bad = (code: string) => ({ kind: 'bad', code, problem: expect.any(String) });

  it('takes an invoice over what is due that lives long enough', async () => {
    const createdAtMs = Math.floor(Date.now() / 1_000) * 1_000;
    const verdict = await check({ createdAtMs });
    expect(verdict).toMatchObject({
      kind: 'good',
      amountMsat: '2100000',
      paymentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      payee: PAYEE,
      expiresAt: new Date(createdAtMs + 3_600_000).toISOString(),
    });
    const { lifeMs } = verdict as { readonly lifeMs: number };
    expect(lifeMs).toBeGreaterThan(3_590_000);
    expect(lifeMs).toBeLessThanOrEqual(3_600_000);
  });

  it.each(['0002100000', '007.5', 'many', '1e999'])(
    'refuses an invoice whose refund is %j, which cannot be compared: a verdict, and no error that is retried for ever',
    async (amount) => {
      expect(await check({}, { dueMsat: amount, mostMsat: null })).toEqual(bad('not-checked'));
      expect(await check({}, { dueMsat: null, mostMsat: amount })).toEqual(bad('not-checked'));
    },
  );

  it("takes an invoice for one flow's refund, again too, in any spelling, and refuses it for another's", async () => {
    const invoice = bolt11({ amountMsat: 2_100_000 });
    const of = (flowId: string, text = invoice) => check(text, DUE, false, flowId);
    const flowId = `offramp/${newReference('first')}`;
    for (const text of [invoice, invoice.toUpperCase(), `LIGHTNING:${invoice}`]) {
      expect(await of(flowId, text)).toMatchObject({ kind: 'good' });
      expect(await of('offramp/another', text)).toEqual(bad('other-debt'));
    }
  });

  it('refuses a second payable invoice, unless this run knows that the first was not handed over', async () => {
    const flowId = `offramp/${newReference('two')}`;
    const of = (invoice: Partial<Bolt11>, given: readonly string[] = []) => check(invoice, DUE, false, flowId, given);
    const first = await of({ paymentHash: 'aa'.repeat(32) });
    expect(first).toMatchObject({ kind: 'good' });
    expect(await of({ paymentHash: 'bb'.repeat(32) })).toEqual(bad('another-payable'));
    expect(await of({ paymentHash: 'bb'.repeat(32) }, ['aa'.repeat(32)])).toMatchObject({ kind: 'good' });
    expect(await of({ paymentHash: 'aa'.repeat(32) })).toEqual(bad('another-payable'));
  });

  it('notes nothing of an invoice that it refuses', async () => {
    const invoice = bolt11({ amountMsat: 2_100_000 });
    expect(await check(invoice, { dueMsat: '7', mostMsat: '7' })).toEqual(bad('amount-differs'));
    expect(await check(invoice)).toMatchObject({ kind: 'good' });
  });

  it('takes an invoice of a test network only for a service on loopback', async () => {
    expect(await check({ network: 'bcrt' })).toEqual(bad('test-network'));
    expect(await check({ network: 'bcrt' }, DUE, true)).toMatchObject({ kind: 'good' });
    expect(await check({}, DUE, true)).toMatchObject({ kind: 'good' });
  });

  it.each<[string, string, Partial<Bolt11> | string]>([
    ['not-an-invoice', 'a text that is no invoice', 'lnbc1'],
    ['no-amount', 'an invoice without an amount', { amountMsat: null }],
    ['amount-differs', 'an invoice over more than is due', { amountMsat: 2_100_001 }],
    ['amount-differs', 'an invoice over less than is due', { amountMsat: 2_099_999 }],
  ])('refuses, as %s, %s', async (code, _, invoice) => {
    expect(await check(invoice)).toEqual(bad(code));
  });

  it('takes any amount up to what came in if it is not known how much is due, and none if neither is known', async () => {
    const unknown = { dueMsat: null, mostMsat: '2100000' };
    expect(await check({}, unknown)).toMatchObject({ kind: 'good' });
    expect(await check({ amountMsat: 1 }, unknown)).toMatchObject({ kind: 'good', amountMsat: '1' });
    expect(await check({ amountMsat: 2_100_001 }, unknown)).toEqual(bad('more-than-came-in'));
    expect(await check({}, { dueMsat: null, mostMsat: null })).toEqual(bad('amount-unknown'));
    expect(await check({}, { dueMsat: '2100000', mostMsat: null })).toMatchObject({ kind: 'good' });
    expect(await check({}, { dueMsat: '2100000', mostMsat: '2099999' })).toEqual(bad('more-than-came-in'));
  });

  it('refuses, as expires-soon, an invoice that ends within ten minutes', async () => {
    const createdAtMs = Math.floor(Date.now() / 1_000) * 1_000;
    expect(await check({ createdAtMs, expirySeconds: 660 })).toMatchObject({ kind: 'good' });
    expect(await check({ createdAtMs, expirySeconds: 599 })).toEqual(bad('expires-soon'));
    expect(await check({ createdAtMs: createdAtMs - 7_200_000 })).toEqual(bad('expires-soon'));
  });

  it('refuses, as expires-late, an invoice that ends more than a year from now, also if it was made in the future', async () => {
    const hourMs = 3_600_000;
    const createdAtMs = Date.now() + hourMs;
    expect(await check({ createdAtMs, expirySeconds: 31_536_000 })).toEqual(bad('expires-late'));
    expect(await check({ createdAtMs: (2 ** 35 - 1) * 1_000 })).toEqual(bad('expires-late'));
    expect(await check({ expirySeconds: 2 ** 43 })).toEqual(bad('expiry'));
    expect(await check({ createdAtMs: createdAtMs - 2 * hourMs, expirySeconds: 31_536_000 })).toMatchObject({
      kind: 'good',
    });
  });

  it('refuses, with the fault, an invoice that a payer has to refuse', async () => {
    const [hash, , description] = usualFields();
    const without = invoiceOf('lnbc21000000p', [hash!, description!]);
    expect(await check(without)).toEqual(bad('no-payment-secret'));
  });
});
