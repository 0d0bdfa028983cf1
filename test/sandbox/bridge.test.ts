import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BridgeDeposit, BridgeQuote, SettlementEvent } from '../../src/contract/bridge.js';
import { DEPOSIT, depositBody, QUOTE, type Rig, startRig, STEP_MS } from './start.js';

const QUOTE_BODY = { source_currency: 'KES', source_amount: 1000, crypto_chain: 'LIGHTNING', crypto_token: 'MSAT' };

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const callbackStatuses = () => rig.receiver.received.map(({ body }) => body.status as string);

describe('the sandbox', () => {
  it('answers 401 INVALID_API_KEY to a missing or wrong token', async () => {
    for (const token of [null, 'wrong', '']) {
      const answer = await rig.call('POST', QUOTE, QUOTE_BODY, token);
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ success: false, message: 'Unauthorized', error_code: 'INVALID_API_KEY' });
    }
  });

  it('names every wrong member in a 400, and executes nothing', async () => {
    const body = depositBody('r1', 'http://127.0.0.1/x', { chain: 'MOON', amount: -1, surprise: true });
    const answer = await rig.call('POST', DEPOSIT, { ...body, customer_key: undefined });
    expect(answer.status).toBe(400);
    expect(answer.body.success).toBe(false);
    const paths = answer.body.data.errors.map((error: { path: string }) => error.path) as string[];
    expect([...new Set(paths)].toSorted()).toEqual(['amount', 'chain', 'customer_key', 'surprise']);
    expect(await rig.executions('r1')).toBe(0);
  });

  it('answers 400 to a body that is no JSON, and 404 NOT_FOUND to an unknown path', async () => {
    const broken = await rig.call('POST', QUOTE, '{"source_currency":');
    expect([broken.status, broken.body.success]).toEqual([400, false]);
    const nowhere = await rig.call('GET', '/api/v3/nowhere');
    expect([nowhere.status, nowhere.body.error_code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a quote of the sandbox', () => {
  it('is what the contract reads, and lives sixty seconds', async () => {
    const answer = await rig.call('POST', QUOTE, QUOTE_BODY);
    expect(answer.status).toBe(200);
    const quote = BridgeQuote.parse(answer.body.data);
    expect(Date.parse(quote.expires_at ?? '') - Date.parse(quote.created_at ?? '')).toBe(60_000);
    expect(quote.crypto_unit).toBe('MSAT');
    expect(quote.exchange_rate?.fiat_to_btc).toMatch(/^0\.\d+$/);
  });

  it('moves with the market that control sets by rateDriftBps', async () => {
    const before = await rig.call('POST', QUOTE, QUOTE_BODY);
    await rig.control('POST', '/settings', { rateDriftBps: 200 });
    const after = await rig.call('POST', QUOTE, QUOTE_BODY);
    expect(after.body.data.crypto_amount / before.body.data.crypto_amount).toBeCloseTo(0.98, 5);
  });

  it('that is unknown, expired, used or of another amount is refused as 400, and nothing is executed', async () => {
    const unknown = await rig.deposit('r1', { rate_id: 'rate_none' });
    expect([unknown.status, unknown.body.message]).toEqual([400, 'Invalid Rate']);

    const expiring = await rig.quote();
    await rig.advance(60_000);
    const expired = await rig.deposit('r1', { rate_id: expiring });
    expect([expired.status, expired.body.message]).toEqual([400, 'Rate Expired']);

    const rate_id = await rig.quote();
    const foreign = await rig.deposit('r1', { rate_id, amount: 999 });
    expect([foreign.status, foreign.body.message]).toEqual([400, 'Invalid Rate']);
    expect(await rig.executions('r1')).toBe(0);

    await rig.advance(59_999);
    expect((await rig.deposit('r1', { rate_id })).status).toBe(200);
    const used = await rig.deposit('r2', { rate_id });
    expect([used.status, used.body.message]).toEqual([400, 'Invalid Rate']);
    expect(await rig.executions('r2')).toBe(0);
  });
});

describe('a bridge deposit of the sandbox', () => {
  it('is answered as the contract reads it, with a refund invoice of fifteen minutes on Lightning', async () => {
    const answer = await rig.deposit('r1', { rate_id: await rig.quote() });
    expect(answer.status).toBe(200);
    const deposit = BridgeDeposit.parse(answer.body.data);
    expect(deposit).toMatchObject({ provider_reference_id: 'r1', status: 'DEPOSIT_INITIATED', chain: 'LIGHTNING' });
    const { refund_config: config, created_at } = deposit;
    expect(config?.refund_invoice).toMatch(/^lnbc/);
    expect(Date.parse(config?.expires_at ?? '') - Date.parse(created_at ?? '')).toBe(15 * 60_000);
  });

  it('has an on-chain refund without invoice and without expires_at', async () => {
    const crypto_payment = { address: `0x${'1'.repeat(40)}`, crypto_amount: 7.5 };
    const answer = await rig.deposit('r1', { chain: 'CELO', token: 'CUSD', crypto_payment });
    const { refund_config: config } = answer.body.data;
    expect(config).toMatchObject({ chain: 'CELO', token: 'CUSD', refund_crypto_amount: 7.5 });
    expect(config.fallback_address).toMatch(/^0x[0-9a-f]{40}$/);
    expect(config).not.toHaveProperty('refund_invoice');
    expect(config).not.toHaveProperty('expires_at');
  });

  it('goes one status a step, and calls back for each', async () => {
    await rig.deposit('r1');
    expect(await rig.statuses('r1')).toEqual(['DEPOSIT_INITIATED']);
    await rig.advance(STEP_MS - 1);
    expect(callbackStatuses()).toEqual([]);
    await rig.advance(1);
    expect(callbackStatuses()).toEqual(['DEPOSIT_CONFIRMED']);
    await rig.advance(2 * STEP_MS);
    expect(callbackStatuses()).toEqual(['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED']);
    expect(rig.receiver.received[0]).toMatchObject({ path: '/callbacks/r1' });
    expect(rig.receiver.received[0]?.body).toMatchObject({
      provider_reference_id: 'r1',
      amount: 1000,
      currency: 'KES',
      timestamp: expect.any(String),
    });
  });

  it('is settled by its provider, which posts to the sandbox itself without another address', async () => {
    await rig.deposit('r1');
    await rig.advance(10 * STEP_MS);
    expect(await rig.statuses('r1')).toEqual([
      'DEPOSIT_INITIATED',
      'DEPOSIT_CONFIRMED',
      'PAYMENT_SENT',
      'PAYMENT_CONFIRMED',
      'SETTLING',
      'COMPLETED',
    ]);
    expect(callbackStatuses().slice(-2)).toEqual(['SETTLING', 'COMPLETED']);
    expect(await rig.executions('r1')).toBe(1);
  });

  it.each([
    ['failed-then-refunded', ['SETTLING', 'FAILED', 'REFUNDED']],
    ['failed-no-refund', ['SETTLING', 'FAILED']],
    ['failed-refund-begun', ['SETTLING', 'FAILED']],
    ['completed-then-refunded', ['SETTLING', 'COMPLETED', 'REFUNDED']],
    ['no-settlement-ever', ['PAYMENT_CONFIRMED']],
    ['statuses-by-callback-only', ['SETTLING', 'COMPLETED']],
    ['failed-early', ['DEPOSIT_INITIATED', 'FAILED']],
    ['mismatching-amount', ['SETTLING', 'COMPLETED']],
  ])('ends as the scenario %s has it', async (ending, last) => {
    await rig.control('POST', '/scenarios', { reference: 'r1', ending });
    await rig.deposit('r1');
    await rig.advance(20 * STEP_MS);
    expect((await rig.statuses('r1')).slice(-last.length)).toEqual(last);
  });

  it('reports a refund that it begins, announces one that it does not begin, and none if no crypto was paid', async () => {
    await rig.deposit('late', { amount: 1000.13 });
    await rig.deposit('never', { amount: 1000.14 });
    await rig.deposit('early', { amount: 1000.15 });
    await rig.advance(20 * STEP_MS);
    const failed = (reference: string) =>
      rig.receiver.received.find(({ path, body }) => path.endsWith(reference) && body.status === 'FAILED')?.body;
    const begun = { refund_method_used: 'lightning_invoice', refund_initiated_at: expect.any(String) };
    expect(failed('late')).toMatchObject({
      refund_details: { refund_status: 'PENDING', ...begun },
      failure_details: {},
    });
    expect(failed('never')).toMatchObject({ refund_details: { refund_status: 'PENDING' } });
    for (const member of Object.keys(begun)) expect(failed('never')?.refund_details).not.toHaveProperty(member);
    expect(failed('early')).toMatchObject({ failure_details: { failure_stage: 'deposit' } });
    expect(failed('early')).not.toHaveProperty('refund_details');
    expect(callbackStatuses()).toContain('REFUNDED');
  });

  it.each([
    ['no-callbacks-ever', 'COMPLETED'],
    ['silent', 'PAYMENT_CONFIRMED'],
  ])('is not called back in the scenario %s', async (ending, last) => {
    await rig.control('POST', '/scenarios', { reference: 'r1', ending });
    await rig.deposit('r1');
    await rig.advance(20 * STEP_MS);
    expect((await rig.statuses('r1')).at(-1)).toBe(last);
    expect(rig.receiver.received).toEqual([]);
  });

  it.each([
    ['rejected', 'TRANSACTION_FAILED'],
    ['insufficient-funds', 'INSUFFICIENT_BALANCE'],
  ])('is refused as 400, and not executed, in the scenario %s', async (ending, error_code) => {
    await rig.control('POST', '/scenarios', { reference: 'r1', ending });
    const answer = await rig.deposit('r1');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ success: false, error_code });
    expect(await rig.executions('r1')).toBe(0);
  });

  it('is refused for an expired rate as often as the scenario or the amount demands, and then accepted', async () => {
    await rig.control('POST', '/scenarios', { reference: 'r1', ending: 'rate-expired', times: 2 });
    const rate_id = await rig.quote();
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push((await rig.deposit('r1', { rate_id })).status);
    expect(answers).toEqual([400, 400, 200]);
    const magic = [await rig.deposit('r2', { amount: 10.43 }), await rig.deposit('r2', { amount: 10.43 })];
    expect(magic.map(({ status }) => status)).toEqual([400, 200]);
  });

  it('ends by the phone number of its recipient if its amount chooses no ending', async () => {
    const settlement = { amount: 100, currency: 'RWF', recipient: { phone_number: '+250780000014' } };
    await rig.deposit('r1', { settlement });
    await rig.advance(20 * STEP_MS);
    expect((await rig.statuses('r1')).at(-1)).toBe('FAILED');
  });

  it('takes its time in the scenario slow', async () => {
    await rig.deposit('r1', { amount: 1000.19 });
    await rig.advance(19 * STEP_MS);
    expect(await rig.statuses('r1')).toEqual(['DEPOSIT_INITIATED']);
    await rig.advance(200 * STEP_MS);
    expect((await rig.statuses('r1')).at(-1)).toBe('COMPLETED');
  });
});

describe('settlement reports to the sandbox', () => {
  const report = (kotani_reference_id: string, over = {}) =>
    rig.call(
      'POST',
      `${DEPOSIT}/webhook/provider/settlement`,
      {
        webhook_type: 'settlement',
        provider_reference_id: 'r1',
        kotani_reference_id,
        status: 'COMPLETED',
        timestamp: '2025-01-01T00:00:00Z',
        crypto_payment: {},
        ...over,
      },
      null,
    );

  it('are taken without a token, answered 201, and have no effect when repeated', async () => {
    const { body } = await rig.deposit('r1');
    for (let n = 0; n < 3; n += 1) {
      const answer = await report(body.data.kotani_reference_id);
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ success: true, data: {} });
    }
    await rig.advance(20 * STEP_MS);
    expect(await rig.statuses('r1')).toEqual(['DEPOSIT_INITIATED', 'COMPLETED']);
    expect(callbackStatuses()).toEqual(['COMPLETED']);
  });

  it('move a completed deposit back to its beginning, and pay nothing twice', async () => {
    const { body } = await rig.deposit('r1');
    await rig.advance(20 * STEP_MS);
    await report(body.data.kotani_reference_id, { status: 'DEPOSIT_CONFIRMED' });
    await rig.advance(20 * STEP_MS);
    expect((await rig.statuses('r1')).slice(-4)).toEqual([
      'COMPLETED',
      'DEPOSIT_CONFIRMED',
      'PAYMENT_SENT',
      'PAYMENT_CONFIRMED',
    ]);
    const { entries } = (await rig.control('GET', '/ledger?reference=r1')).body;
    const kinds = entries.map(({ kind }: { kind: string }) => kind) as string[];
    expect(kinds).toEqual(['deposit', 'crypto-payment', 'payout', 'settlement']);
  });

  it('are 404 for an unknown kotani_reference_id, and 400 for one of another reference', async () => {
    const { body } = await rig.deposit('r1');
    expect((await report('KOT-none')).status).toBe(404);
    const other = await report(body.data.kotani_reference_id, { provider_reference_id: 'r2' });
    expect([other.status, other.body.data.errors[0].path]).toEqual([400, 'provider_reference_id']);
    expect(await rig.statuses('r1')).toEqual(['DEPOSIT_INITIATED']);
  });

  it('are posted by the provider with the deposit’s figures', async () => {
    await rig.close();
    const gateway = await startRig();
    rig = await startRig({ settlementUrl: `${gateway.receiver.url}/settlements/x` });
    await rig.deposit('r1');
    await rig.deposit('wrong', { amount: 1000.22 });
    await rig.advance(20 * STEP_MS);
    const posts = gateway.receiver.received.map(({ body }) => ({ ...body, ...SettlementEvent.parse(body) }));
    const settled = posts.filter(({ status }) => status === 'COMPLETED');
    expect(posts.map(({ status }) => status as string)).toEqual(['SETTLING', 'SETTLING', 'COMPLETED', 'COMPLETED']);
    expect(settled[0]).toMatchObject({
      provider_reference_id: 'r1',
      settlement_details: { amount: '115.5', currency: 'GHS', recipient_phone: '+233241234567' },
      crypto_payment: { payment_hash: 'a'.repeat(64), amount_msat: '7700000', chain: 'LIGHTNING', token: 'MSAT' },
    });
    expect(settled[1]?.settlement_details?.amount).toBe('103.95');
    // They were never reported to the service, so for the service nothing is settled.
    expect((await rig.statuses('r1')).at(-1)).toBe('PAYMENT_CONFIRMED');
    await gateway.close();
  });
});
