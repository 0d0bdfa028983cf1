import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from '@jest/globals';
import { createBridgeActivities } from '../../activities/bridge-transfer.js';
import { pinOf } from '../../activities/claims.js';
import { BridgeTransferInput, QUOTE_LIFE_MS } from '../../src/flows/bridge-transfer.js';
import { NotSentError, RejectedError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, type Replaced } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const QUOTE = { rate_id: 'rate-9', crypto_amount: '7.5', crypto_unit: 'USDC' };
const REFUSAL = { httpStatus: 400, message: 'limit', fields: [], isRateExpired: false, isAboutReference: false };
const OURS = { rateId: 'rate-9', cryptoAmount: '7.5', cryptoUnit: 'USDC', lifeMs: QUOTE_LIFE_MS };

let store: Store;
const activities = (service: Replaced['service'] = {}, more: Replaced = {}) =>
  createBridgeActivities(depsOver(store, { ...more, service }));
const parsed = (reference: string, more: object = {}) =>
  BridgeTransferInput.parse(transferInput(reference, { ...more }));

describe('checkBridgeTransfer', () => {
  withTemporaryStore((opened) => (store = opened));
  const orderOf = (more: Record<string, unknown> = {}, reference = newReference('prepared')) => ({
    flowId: `bridge-transfer/${reference}`,
    input: transferInput(reference, more),
  });
  const prepare = (made: ReturnType<typeof activities>, order: object, isLocal = false) =>
    new MockActivityEnvironment({ isLocal }).run(() => made.checkBridgeTransfer(order as never)) as Promise<
      Awaited<ReturnType<typeof made.checkBridgeTransfer>>
    >;

  it('returns the checked input, the first quote, and the pin and fingerprint for the claims, which were never sent under', async () => {
    const asked: unknown[] = [];
    const made = activities(
      { quoteBridge: async (body: never) => (asked.push(body), QUOTE) },
      { allowPlaintext: true },
    );
    const order = orderOf();
    const { prepared, claims, events, quote } = await prepare(made, order);
    const pin = await pinOf({ store, account: 'default' });
    expect(prepared).toMatchObject({
      input: { amount: '1000.5', approval: 'none' },
      windows: { postMs: 8_000 },
      allowPlaintext: true,
      pin,
    });
    expect(prepared.fingerprint).toMatch(/./);
    const reference = order.flowId.slice('bridge-transfer/'.length);
    const ofDeposit = { operation: 'createBridgeDeposit', reference, flowId: order.flowId, pin };
    expect(prepared.steps['deposit']?.claim).toEqual({ ...ofDeposit, fingerprint: prepared.fingerprint });
    // How much is refunded is not decided yet, and a refund has a reference of its own.
    const ofRefund = { ...ofDeposit, operation: 'sendCrypto', reference: `${reference}.refund`, fingerprint: '' };
    expect(prepared.steps['refund']?.claim).toEqual(ofRefund);
    expect(claims).toMatchObject({
      deposit: { claim: 'free', sent: 'nothing' },
      refund: { claim: 'free', sent: 'nothing' },
    });
    expect(events).toEqual([]);
    expect(quote).toEqual(OURS);
    expect(asked).toEqual([
      { source_currency: 'KES', source_amount: 1000.5, crypto_chain: 'CELO', crypto_token: 'USDC' },
    ]);
    expect(await asActivity(() => made.quoteBridgeTransfer({ input: prepared.input as BridgeTransferInput }))).toEqual(
      OURS,
    );
  });

  it('records in the audit log a start by another client than a gateway', async () => {
    const order = orderOf();
    await prepare(activities({ quoteBridge: async () => QUOTE }), { ...order, startedWith: null });
    expect(await store.audit.list({ flowId: order.flowId, limit: 9 })).toMatchObject([
      { kind: 'start', details: { amount: '1000.5', currency: 'KES' } },
    ]);
  });

  it('returns a quote without figures if the service names none', async () => {
    for (const crypto_amount of [undefined, null]) {
      const made = activities({ quoteBridge: async () => ({ rate_id: 'rate-9', crypto_amount }) });
      expect((await prepare(made, orderOf())).quote).toEqual({ ...OURS, cryptoAmount: null, cryptoUnit: null });
    }
  });

  it('fails for good, as quote_rejected, if the service refuses the quote, and as not_sent if it cannot be reached', async () => {
    const refusing = activities({ quoteBridge: () => Promise.reject(new RejectedError('quoteBridge', REFUSAL)) });
    await expect(prepare(refusing, orderOf())).rejects.toMatchObject({
      type: 'quote_rejected',
      nonRetryable: true,
    });
    const away = activities({ quoteBridge: () => Promise.reject(new NotSentError('quoteBridge', 'refused')) });
    await expect(prepare(away, orderOf())).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
  });

  it('asks for at most eight quotes at a time as a local activity, and fails as busy beyond that', async () => {
    let asked = 0;
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const quoteBridge = () => {
      asked += 1;
      return answered.then(() => QUOTE);
    };
    const made = activities({ quoteBridge });
    const resultOf = (isLocal: boolean) =>
      prepare(made, orderOf(), isLocal).then(
        ({ quote }) => quote.rateId,
        ({ type, nonRetryable }) => ({ type, nonRetryable }),
      );
    // The ordinary activity takes no slot of a workflow task.
    const held = [...Array.from({ length: 9 }, () => true), false].map(resultOf);
    await new Promise(setImmediate);
    answer();
    const busy = { type: 'busy', nonRetryable: false };
    expect(await Promise.all(held)).toEqual([...Array.from({ length: 8 }, () => 'rate-9'), busy, 'rate-9']);
    expect(asked).toBe(9);
    expect((await prepare(made, orderOf(), true)).quote).toEqual(OURS);
  });

  it('refuses a time scale other than 1, as invalid_input, if the service is not on loopback', async () => {
    const made = activities({}, { serviceIsOnLoopback: false });
    await expect(prepare(made, orderOf({ rate_id: 'r', timeScale: 0.5 }))).rejects.toMatchObject({
      type: 'invalid_input',
      nonRetryable: true,
    });
    expect((await prepare(made, orderOf({ rate_id: 'r', timeScale: 1 }))).prepared).toMatchObject({
      input: { timeScale: 1 },
    });
  });

  describe('with a quote that the caller brought', () => {
    const REMEMBERED = {
      lifeMs: QUOTE_LIFE_MS,
      cryptoAmount: '7.5',
      cryptoUnit: 'USDC',
      sourceAmount: '1000.5',
      sourceCurrency: 'KES',
      chain: 'CELO',
      token: 'USDC',
    };
    const brought = async (terms: object | null, tookMs = 0) => {
      const rateId = randomUUID();
      if (terms !== null) await store.quotes.remember('default', { ...REMEMBERED, ...terms, rateId }, tookMs);
      const { quote } = await prepare(activities(), orderOf({ rate_id: rateId }));
      expect(quote.rateId).toBe(rateId);
      return quote;
    };

    it('returns its figures and the rest of its life if it passed through a gateway for this deposit', async () => {
      expect(await brought({})).toMatchObject({ cryptoAmount: '7.5', cryptoUnit: 'USDC', lifeMs: QUOTE_LIFE_MS });
      expect(await brought({ lifeMs: 10_000 }, 4_000)).toMatchObject({ lifeMs: 6_000 });
      expect(await brought({ lifeMs: QUOTE_LIFE_MS + 9_000 }, 5_000)).toMatchObject({ lifeMs: QUOTE_LIFE_MS - 5_000 });
      expect(await brought({ lifeMs: 10_000 }, 11_000)).toMatchObject({ lifeMs: 0 });
    });

    it.each([{ sourceAmount: '1000' }, { sourceCurrency: 'ZAR' }, { chain: 'BASE' }, { token: 'USDT' }])(
      'returns no figures if it was asked for with %j',
      async (terms) => {
        const life = { lifeMs: QUOTE_LIFE_MS - 5_000 };
        expect(await brought(terms, 5_000)).toMatchObject({ cryptoAmount: null, cryptoUnit: null, ...life });
      },
    );

    it('returns no figures and a whole life if no gateway saw it', async () => {
      expect(await brought(null)).toMatchObject({ cryptoAmount: null, cryptoUnit: null, lifeMs: QUOTE_LIFE_MS });
    });
  });
});

describe('submitBridgeDeposit', () => {
  withTemporaryStore((opened) => (store = opened));
  /** Its quote may be used for 50 s from its request on. */
  const deposit = async (
    more: object = {},
    { afterMs = 0, readMs = 0, clock }: { afterMs?: number; readMs?: number; clock?: () => number } = {},
  ) => {
    const reference = newReference('deposited');
    const sent: unknown[][] = [];
    let clockMs = 1_000_000;
    const made = activities(
      { createBridgeDeposit: async (...call: unknown[]) => (sent.push(call), { status: 'PENDING' }) },
      { monotonicMs: clock ?? (() => (clockMs += readMs) - readMs) },
    );
    const order = {
      flowId: `bridge-transfer/${reference}`,
      fingerprint: 'f',
      pin: await pinOf({ store, account: 'default' }),
      input: parsed(reference, more),
      rateId: 'rate-1',
      quotedAtMs: Date.UTC(2026, 0, 1),
      usableMs: 50_000,
      reviewedEventIds: [],
      mostMs: 9_000,
    };
    const outcome = await asActivity(() => made.submitBridgeDeposit(order), afterMs);
    const claim = await store.claims.get({ account: 'default', operation: 'createBridgeDeposit', reference });
    return { reference, flowId: order.flowId, outcome, sent, claim };
  };

  const bodyOf = ([call]: readonly unknown[][]) => call?.[0] as Record<string, unknown>;

  it('sends all of its input, its quote, and the callback URL of this flow', async () => {
    const metadata = { notes: 'rent' };
    const { reference, flowId, outcome, sent, claim } = await deposit({ metadata });
    expect(outcome).toMatchObject({ kind: 'accepted', answer: { status: 'PENDING' } });
    const { refund: _refund, ...input } = transferInput(reference);
    expect(sent).toMatchObject([
      [
        {
          ...input,
          amount: 1000.5,
          crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: 7.5 },
          settlement: { amount: 100, currency: 'ZAR', recipient: { phone_number: '+27821234567' } },
          callback_url: expect.stringMatching(/^http:/),
          rate_id: 'rate-1',
          metadata,
        },
        { mostMs: 9_000, stillValid: expect.any(Function) },
      ],
    ]);
    expect(String(bodyOf(sent)['callback_url'])).toContain(reference);
    expect(claim).toMatchObject({ phase: 'answered', flowId });
  });

  it('sends no member that the input does not have', async () => {
    const crypto_payment = { payment_hash: 'ab12', amount_msat: '7500' };
    const { sent } = await deposit({ chain: 'LIGHTNING', token: 'MSAT', crypto_payment });
    const body = bodyOf(sent);
    expect(body['crypto_payment']).toStrictEqual({ payment_hash: 'ab12', amount_msat: 7_500 });
    expect(body).not.toHaveProperty('metadata');
    expect(bodyOf((await deposit()).sent)['crypto_payment']).not.toHaveProperty('amount_msat');
  });

  it("returns quote-expired, without a POST, once the time until it was scheduled and the time since are its quote's life", async () => {
    expect((await deposit({}, { afterMs: 49_999 })).outcome).toMatchObject({ kind: 'accepted' });
    for (const time of [{ afterMs: 50_000 }, { readMs: 60_000 }, { afterMs: 49_000, readMs: 1_000 }]) {
      const { outcome, sent } = await deposit({}, time);
      expect(outcome).toEqual({ kind: 'quote-expired' });
      expect(sent).toEqual([]);
    }
    // The life ends between two readings of our own clock.
    for (const endsAt of [1, 2]) {
      let readings = -1;
      const clock = () => ((readings += 1) >= endsAt ? 1_000 : 0);
      const { outcome, sent } = await deposit({}, { afterMs: 49_000, clock });
      expect(outcome).toEqual({ kind: 'quote-expired' });
      expect(sent).toEqual([]);
    }
  });

  it('returns unknown, and leaves the claim in sending, when the service reports that the rate expired: a copy of it may have used the rate up', async () => {
    const reference = newReference('expired');
    const made = activities({
      createBridgeDeposit: () =>
        Promise.reject(new RejectedError('createBridgeDeposit', { ...REFUSAL, isRateExpired: true })),
    });
    const order = {
      flowId: `bridge-transfer/${reference}`,
      fingerprint: 'f',
      pin: await pinOf({ store, account: 'default' }),
      input: parsed(reference),
      rateId: 'rate-1',
      quotedAtMs: Date.UTC(2026, 0, 1),
      usableMs: 50_000,
      reviewedEventIds: [],
    };
    expect(await asActivity(() => made.submitBridgeDeposit(order))).toMatchObject({ kind: 'unknown' });
    const key = { account: 'default', operation: 'createBridgeDeposit', reference } as const;
    expect(await store.claims.get(key)).toMatchObject({ phase: 'sending' });
  });
});
