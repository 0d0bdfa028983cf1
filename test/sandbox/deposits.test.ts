import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MobileMoneyDeposit, OnChainDeposit } from '../../src/contract/deposit.js';
import { OnChainDepositEvent } from '../../src/contract/events.js';
import { maskedNumber } from '../../src/sandbox/deposit/methods.js';
import { create, SAMPLES, transactionOf } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const MOBILE = '/api/v3/deposit/mobile-money/status';
const ON_CHAIN = '/api/v3/deposit/on-chain/status';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig({ durable: true });
});
afterEach(() => rig.close());

const mobileMoney = async (reference: string) =>
  MobileMoneyDeposit.parse((await rig.call('GET', `${MOBILE}/${reference}`)).body.data);
const onChain = async (reference: string) =>
  OnChainDeposit.parse((await rig.call('GET', `${ON_CHAIN}/${reference}`)).body.data);
const balances = async () => (await rig.control('GET', '/ledger')).body.balances;

describe('an onramp of the sandbox', () => {
  it('has first its fiat leg done, then its crypto leg', async () => {
    await create(rig, 'createOnramp', 'r1');
    expect(await onChain('r1')).toMatchObject({
      mobile_money: { status: 'PENDING', reference_id: 'r1', amount: '1000', network: 'MPESA' },
      onchain: { status: 'PENDING', crypto_received_status: 'PENDING', public_address: '0xabc' },
    });
    await rig.advance(2 * STEP_MS);
    expect((await mobileMoney('r1')).status).toBe('SUCCESSFUL');
    expect((await onChain('r1')).onchain?.status).toBe('PENDING');
    expect((await balances())['service:held']).toEqual({ KES: '1000' });
    await rig.advance(2 * STEP_MS);
    const done = await onChain('r1');
    expect(done.onchain).toMatchObject({ status: 'SUCCESSFUL', crypto_received_status: 'SUCCESSFUL' });
    expect(done.onchain?.transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await balances()).toMatchObject({
      'service:held': { KES: '0' },
      'service:settled': { KES: '990' },
      fees: { KES: '10' },
      'crypto-out': { CUSD: done.onchain?.crypto_amount },
    });
  });

  it('gives the customer the fiat back if the transaction fails on the chain', async () => {
    await create(rig, 'createOnramp', 'r1', { fiatAmount: 1000.27 });
    await rig.advance(10 * STEP_MS);
    const failed = await onChain('r1');
    expect([failed.mobile_money?.status, failed.onchain?.status]).toEqual(['SUCCESSFUL', 'FAILED']);
    expect((await balances())['customer:customer-254712345678']).toEqual({ KES: '0' });
  });

  it('that is not paid has the reason in its fiat leg, and never begins its crypto leg', async () => {
    await create(rig, 'createOnramp', 'r1', { fiatAmount: 1000.15 });
    await rig.advance(10 * STEP_MS);
    const { mobile_money, onchain } = await onChain('r1');
    expect(mobile_money).toMatchObject({ status: 'FAILED', error_code: 'CANCELLED' });
    expect(onchain?.status).toBe('PENDING');
    expect(await balances()).toEqual({});
  });

  it('is paid by bank checkout at a redirect URL, which has a page', async () => {
    const bankCheckout = { fullName: 'Ada', phoneNumber: '+27821234567', paymentMethod: 'PAYBYBANK' };
    const { body } = await create(rig, 'createOnramp', 'r1', { mobileMoney: undefined, bankCheckout });
    const page = await fetch(body.data.redirectUrl as string);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('INITIATED')]);
    expect((await rig.call('GET', `${MOBILE}/r1`)).status).toBe(404);
    await rig.advance(10 * STEP_MS);
    expect((await onChain('r1')).mobile_money).toMatchObject({ status: 'SUCCESSFUL', network: 'PAYBYBANK' });
  });

  it('takes no way to pay, or both', async () => {
    expect((await create(rig, 'createOnramp', 'none', { mobileMoney: undefined })).body.data.redirectUrl).toBeDefined();
    const bankCheckout = { fullName: 'Ada', phoneNumber: '+27821234567', paymentMethod: 'CARD' };
    expect((await create(rig, 'createOnramp', 'both', { bankCheckout })).body.data.redirectUrl).toBeUndefined();
  });

  it('reports the payment to the account, and the crypto in the shape that the interface shows', async () => {
    await rig.control('POST', '/settings', { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 'a secret' });
    await create(rig, 'createOnramp', 'r1');
    await rig.advance(10 * STEP_MS);
    const events = rig.receiver.received.filter(({ path }) => path === '/account').map(({ body }) => body);
    expect(events.map(({ event }) => event as string)).toEqual([
      'payment.confirmed',
      'transaction.onramp.status.updated',
      'deposit.onchain.successful',
    ]);
    const { data } = OnChainDepositEvent.parse(events[2]);
    expect(data).toMatchObject({ reference_id: 'r1', crypto_received_status: 'SUCCESSFUL', amount: '1000' });
  });
});

describe('a mobile money deposit that was started elsewhere, at the sandbox,', () => {
  const start = (over = {}) =>
    rig.control('POST', '/mobile-money-deposits', {
      referenceId: 'm1',
      amount: 700,
      currency: 'GHS',
      phoneNumber: '+233241234567',
      ...over,
    });

  it('can be read, from PENDING to SUCCESSFUL, and is in the wallet less the fee', async () => {
    expect((await start()).status).toBe(200);
    expect(await mobileMoney('m1')).toMatchObject({ status: 'PENDING', amount: '700', currency: 'GHS' });
    await rig.advance(2 * STEP_MS);
    expect(await mobileMoney('m1')).toMatchObject({ status: 'SUCCESSFUL', integratorsAmount: '693' });
    expect((await balances())['wallet:integrator']).toEqual({ GHS: '693' });
  });

  it('ends by its phone number if its currency has no decimals, and no fraction is in the books', async () => {
    await start({ currency: 'UGX', amount: 1001, phoneNumber: '+256700000023' });
    await start({ referenceId: 'm2', currency: 'UGX', amount: 1001, phoneNumber: '+256700000001' });
    await rig.advance(10 * STEP_MS);
    expect(await mobileMoney('m1')).toMatchObject({ status: 'FAILED', error_code: 'EXPIRED' });
    expect((await balances()).fees).toEqual({ UGX: '10' });
  });

  it('is 404 for an unknown reference', async () => {
    expect((await rig.call('GET', `${MOBILE}/none`)).status).toBe(404);
    expect((await rig.call('GET', `${ON_CHAIN}/none`)).status).toBe(404);
  });
});

describe('a bank checkout of the sandbox', () => {
  it('echoes its request, with a new reference if none was given', async () => {
    const { body } = SAMPLES.createBankCheckout;
    const answer = await rig.call('POST', SAMPLES.createBankCheckout.path, body);
    expect(answer.body.data).toMatchObject(body);
    expect(answer.body.data.referenceId).toMatch(/^REF-/);
  });

  it('that is reversed takes everything back', async () => {
    await create(rig, 'createBankCheckout', 'r1', { amount: 100.21 });
    await rig.advance(10 * STEP_MS);
    expect(await balances()).toEqual({
      'customer:customer-27821234567': { ZAR: '0' },
      'wallet:integrator': { ZAR: '0' },
      fees: { ZAR: '0' },
    });
    expect(rig.receiver.received.map(({ body }) => body.status as string)).toEqual(['SUCCESSFUL', 'FAILED']);
  });
});

describe('a card deposit of the sandbox', () => {
  it('is in ZAR only', async () => {
    const answer = await create(rig, 'createCardDeposit', 'r1', { currency: 'KES' });
    expect([answer.status, answer.body.data.errors[0].path]).toEqual([400, 'currency']);
  });

  it('sends the customer to 3-D Secure, and is declined by the last digits of the card', async () => {
    const card = { ...SAMPLES.createCardDeposit.body.card, number: '4000000000000028' };
    const { body } = await create(rig, 'createCardDeposit', 'r1', { card });
    expect(body.data.redirect_url).toMatch(/\/checkout\/CRD-/);
    expect((await transactionOf(rig, 'r1')).ending).toBe('declined');
  });

  it('leaves nothing of the card in file and control, however its request goes', async () => {
    const kinds = ['late-commit', 'answer-lost', 'error-before', 'garbage', 'slow'];
    for (const kind of kinds) {
      await rig.control('POST', '/faults', { operation: 'createCardDeposit', kind, first: 1, delayMs: 5 });
      await create(rig, 'createCardDeposit', `r-${kind}`).catch(() => undefined);
    }
    await create(rig, 'createCardDeposit', 'bad', { amount: -1 });
    await rig.advance(10 * STEP_MS);
    const files = await Promise.all([readFile(rig.dbPath), readFile(`${rig.dbPath}-wal`)]);
    const written = Buffer.concat(files).toString('latin1') + JSON.stringify(rig.receiver.received);
    expect(written.includes('411111******1111')).toBe(true);
    for (const secret of ['4111111111111111', '4111 1111 1111 1111', '"987"', '"2031"', '"ADA"', 'cvv', 'expiry'])
      expect([secret, written.includes(secret)]).toEqual([secret, false]);
  });

  it.each([
    ['4111 1111-1111 1111', '411111******1111'],
    ['1234567890123', '123456***0123'],
    ['123456789', '*********'],
    ['', ''],
  ])('masks %s as %s', (number, masked) => {
    expect(maskedNumber(number)).toBe(masked);
  });
});
