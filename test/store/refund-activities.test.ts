import { describe, expect, it } from '@jest/globals';
import { pinOf } from '../../activities/claims.js';
import { createRefundActivities, createRefundInvoiceActivities } from '../../activities/refund.js';
import type { RefundOrder } from '../../activities/types.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { INVOICE_FAULTS } from '../../src/readers/lightning-invoice.js';
import { bolt11, invoiceOf, PAYEE, usualFields, type Bolt11 } from '../flows/bolt11.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

describe('a refund that is sent', () => {
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
      cryptoAmount: '7.50',
      ...more,
    };
  };
  type Service = NonNullable<Parameters<typeof depsOver>[1]>['service'];
  const submit = (order: RefundOrder, service: Service) =>
    asActivity(() => createRefundActivities(depsOver(store, { service: service! })).submitRefund(order));

  it('is a send of crypto under its own reference, in the time that its flow allows', async () => {
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

  it('is the same one for a smaller amount, since less may be due by then, and another one for another receiver', async () => {
    const order = await orderOf();
    let sent = 0;
    const service = { sendCrypto: async () => ({ n: (sent += 1) }) };
    const first = await submit(order, service);
    const less = await submit({ ...order, cryptoAmount: '7' }, service);
    expect(less).toEqual(first);
    for (const more of [{ receiverAddress: '0x2' }, { chain: 'BASE' }, { token: 'USDT' }]) {
      expect((await submit({ ...order, ...more }, service)).outcome).toEqual({ kind: 'other-request' });
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

  it('is looked up before it is sent again: what the service shows is the first one', async () => {
    const shown = await orderedAgain(async () => record);
    expect(shown).toMatchObject({ kind: 'accepted', answer: record, byLookup: true, sent: 1 });
    const other = await orderedAgain(async () => ({ ...record, cryptoAmount: 8 }));
    expect(other).toMatchObject({ kind: 'duplicate', sent: 1 });
  });

  it('is sent again without an answer to that only if the person who ordered it was shown that', async () => {
    expect(await orderedAgain(forbidden)).toMatchObject({ thrown: { type: 'not_sent' }, sent: 1 });
    expect(await orderedAgain(forbidden, { unasked: true })).toMatchObject({ kind: 'accepted', sent: 2 });
  });
});

describe('an invoice for a refund over Lightning', () => {
  const DUE = { dueMsat: '2100000', mostMsat: '2100000' };
  const check = (
    invoice: Partial<Bolt11> | string,
    due: { readonly dueMsat: string | null; readonly mostMsat: string | null } = DUE,
    serviceIsOnLoopback = false,
  ) => {
    const text = typeof invoice === 'string' ? invoice : bolt11({ amountMsat: 2_100_000, ...invoice });
    const made = createRefundInvoiceActivities({ serviceIsOnLoopback } as never);
    return made.checkRefundInvoice({ invoice: text, ...due });
  };
  const bad = (problem: string) => ({ kind: 'bad', problem: expect.stringContaining(problem) });

  it('is good if it is over what is due, and lives long enough', async () => {
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

  it('of a test network is good only for a service on loopback', async () => {
    expect(await check({ network: 'bcrt' })).toEqual(bad('a test network'));
    expect(await check({ network: 'bcrt' }, DUE, true)).toMatchObject({ kind: 'good' });
    expect(await check({}, DUE, true)).toMatchObject({ kind: 'good' });
  });

  it.each<[string, Partial<Bolt11> | string, string]>([
    ['that is none', 'lnbc1', 'no Lightning invoice'],
    ['without an amount', { amountMsat: null }, 'names no amount'],
    ['over more than is due', { amountMsat: 2_100_001 }, 'It is over 2100001 msat, and the refund is 2100000 msat.'],
    ['over less than is due', { amountMsat: 2_099_999 }, 'It is over 2099999 msat, and the refund is 2100000 msat.'],
  ])('%s is refused, with the reason', async (_, invoice, problem) => {
    expect(await check(invoice)).toEqual(bad(problem));
  });

  it('is good up to what came in if it is not known how much is due, and not checked if neither is', async () => {
    const unknown = { dueMsat: null, mostMsat: '2100000' };
    expect(await check({}, unknown)).toMatchObject({ kind: 'good' });
    expect(await check({ amountMsat: 1 }, unknown)).toMatchObject({ kind: 'good', amountMsat: '1' });
    expect(await check({ amountMsat: 2_100_001 }, unknown)).toEqual(bad('2100001 msat, and 2100000 msat came in'));
    expect(await check({}, { dueMsat: null, mostMsat: null })).toEqual(bad('cannot be checked'));
    expect(await check({}, { dueMsat: '2100000', mostMsat: null })).toMatchObject({ kind: 'good' });
    expect(await check({}, { dueMsat: '2100000', mostMsat: '2099999' })).toEqual(bad('2099999 msat came in'));
  });

  it('is refused if it ends within ten minutes', async () => {
    const createdAtMs = Math.floor(Date.now() / 1_000) * 1_000;
    expect(await check({ createdAtMs, expirySeconds: 660 })).toMatchObject({ kind: 'good' });
    expect(await check({ createdAtMs, expirySeconds: 599 })).toEqual(bad('good for 10 minutes at least'));
    expect(await check({ createdAtMs: createdAtMs - 7_200_000 })).toEqual(bad('expires too soon'));
  });

  it('is refused if it ends more than a year from now, also if it was made in the future', async () => {
    const createdAtMs = Date.now() + 1_000;
    expect(await check({ createdAtMs, expirySeconds: 31_536_000 })).toEqual(bad('more than a year'));
    expect(await check({ createdAtMs: (2 ** 35 - 1) * 1_000 })).toEqual(bad('more than a year'));
    expect(await check({ expirySeconds: 2 ** 43 })).toEqual(bad('more than a year'));
    expect(await check({ createdAtMs: createdAtMs - 3_600_000, expirySeconds: 31_536_000 })).toMatchObject({
      kind: 'good',
    });
  });

  it('is refused with the reason if a payer has to refuse it', async () => {
    const [hash, , description] = usualFields();
    const without = invoiceOf('lnbc21000000p', [hash!, description!]);
    expect(await check(without)).toEqual({ kind: 'bad', problem: INVOICE_FAULTS['no-payment-secret'] });
  });
});
