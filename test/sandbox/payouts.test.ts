import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Invoice, InvoiceCreation, InvoicePayment } from '../../src/contract/invoice.js';
import { Offramp } from '../../src/contract/offramp.js';
import { create, historyOf, INVOICE, INVOICE_BODY, PAYMENT_BODY, transactionOf } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
  await rig.control('POST', '/settings', { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 'a secret' });
});
afterEach(() => rig.close());

const balances = async () => (await rig.control('GET', '/ledger')).body.balances;
const events = () =>
  rig.receiver.received.filter(({ path }) => path === '/account').map(({ body }) => body.event as string);

describe('a bank withdrawal of the sandbox', () => {
  it('goes to a South African bank, and to no other', async () => {
    for (const country of ['ZA', 'zaf', 'South Africa', undefined]) {
      const bankDetails = { bankCode: 'ABSA', accountNumber: '1', country };
      expect((await create(rig, 'createBankWithdrawal', `r-${country}`.replace(' ', ''), { bankDetails })).status).toBe(
        200,
      );
    }
    const bankDetails = { bankCode: '01', accountNumber: '1', country: 'KE' };
    const abroad = await create(rig, 'createBankWithdrawal', 'abroad', { bankDetails });
    expect([abroad.status, abroad.body.data.errors[0].path]).toEqual([400, 'bankDetails.country']);
    expect(await rig.executions('abroad', 'createBankWithdrawal')).toBe(0);
  });

  it('holds the money until it is paid out, and gives it back if the bank refuses', async () => {
    await create(rig, 'createBankWithdrawal', 'r1');
    await create(rig, 'createBankWithdrawal', 'r2', { amount: 100.13 });
    expect((await balances())['service:held']).toEqual({ ZAR: '350.13' });
    await rig.advance(10 * STEP_MS);
    expect(await balances()).toMatchObject({
      'service:held': { ZAR: '0' },
      'wallet:integrator': { ZAR: '-250' },
      'recipient:r1': { ZAR: '250' },
    });
    expect(new Set(events())).toEqual(new Set(['transaction.withdrawal.status.updated']));
  });
});

describe('an offramp of the sandbox', () => {
  const lookup = async (reference = 'r1') => {
    const answer = await rig.call('GET', `/api/v3/offramp/${reference}`);
    return Offramp.parse(answer.body.data);
  };

  it('takes the crypto, and pays the fiat out', async () => {
    await create(rig, 'createOfframp', 'r1');
    expect(await lookup()).toMatchObject({ status: 'PENDING', onchainStatus: 'PENDING', usingIntegratedWallet: false });
    await rig.advance(STEP_MS);
    expect(await lookup()).toMatchObject({ status: 'CRYPTO_RECEIVED', onchainStatus: 'SUCCESSFUL' });
    await rig.advance(STEP_MS);
    const { status, fiatAmount, fiatTransactionAmount } = await lookup();
    expect([status, fiatAmount, fiatTransactionAmount]).toEqual(['SUCCESS', '1295', '1282.05']);
    expect(await balances()).toMatchObject({
      'recipient:r1': { KES: '1282.05' },
      'customer:0xdef': { CUSD: '-10' },
      'service:held': { CUSD: '0' },
    });
  });

  it('that fails is refunded by itself', async () => {
    await create(rig, 'createOfframp', 'r1', { cryptoAmount: 10.13 });
    await rig.advance(10 * STEP_MS);
    expect(
      rig.receiver.received.filter(({ path }) => path !== '/account').map(({ body }) => body.status as string),
    ).toEqual(['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING', 'REFUNDED']);
    expect((await balances())['customer:0xdef']).toEqual({ CUSD: '0' });
    expect(events()).toContain('refund.completed');
  });

  it('that fails early had nothing to refund, and one whose refund fails still holds the crypto', async () => {
    await create(rig, 'createOfframp', 'early', { cryptoAmount: 10.15 });
    await create(rig, 'createOfframp', 'stuck', { cryptoAmount: 10.12 });
    await rig.advance(10 * STEP_MS);
    expect((await lookup('early')).status).toBe('FAILED');
    expect((await lookup('stuck')).status).toBe('REFUND_FAILED');
    expect((await balances())['service:held']).toEqual({ CUSD: '10.12' });
  });

  it('asks for a lightning invoice, waits for it, and refunds to it, once', async () => {
    await create(rig, 'createOfframp', 'r1', { cryptoAmount: 10.26 });
    const submit = () => rig.control('POST', '/transactions/r1/refund-invoice', { invoice: 'lnbc1' });
    expect((await submit()).status).toBe(400);
    await rig.advance(100 * STEP_MS);
    expect((await lookup()).status).toBe('REFUND_PENDING');
    expect(events()).toContain('refund.lightning.invoice_needed');
    expect((await submit()).status).toBe(200);
    expect((await submit()).status).toBe(400);
    await rig.advance(STEP_MS);
    expect((await lookup()).status).toBe('REFUNDED');
    expect((await rig.control('GET', '/deliveries?reference=r1&stream=callback')).body.deliveries.at(-1)).toMatchObject(
      {
        status: 'REFUNDED',
        state: 'delivered',
      },
    );
  });

  it('may be paid to a bank, to both receivers, or to none; and is refused in a currency it has not', async () => {
    const bankReceiver = { accountNumber: '123', bankCode: 2500 };
    expect((await create(rig, 'createOfframp', 'both', { bankReceiver })).status).toBe(200);
    expect((await create(rig, 'createOfframp', 'none', { mobileMoneyReceiver: undefined })).status).toBe(200);
    expect((await create(rig, 'createOfframp', 'r1', { currency: 'USD' })).status).toBe(400);
    expect((await rig.call('GET', '/api/v3/offramp/nowhere')).status).toBe(404);
  });
});

describe('an invoice of the sandbox', () => {
  const generate = (over = {}) => rig.call('POST', INVOICE, { ...INVOICE_BODY, referenceId: 'i1', ...over });
  const pay = (over = {}) => rig.call('POST', `${INVOICE}/pay`, { ...PAYMENT_BODY, referenceId: 'i1', ...over });
  const payment = async () => InvoicePayment.parse((await rig.call('GET', `${INVOICE}/pay/i1`)).body.data);

  it('is read with wrong members outside and the right ones in its member invoice', async () => {
    const created = await generate();
    expect(InvoiceCreation.parse(created.body.data)).toMatchObject({ reference_id: 'i1' });
    const invoice = Invoice.parse((await rig.call('GET', `${INVOICE}/i1`)).body.data);
    expect(invoice).toMatchObject({ amount: 'KES', currency: '0250', bankCode: '0250', accountNumber: '123456' });
    expect(invoice.invoice).toMatchObject({ referenceId: 'i1', amount: '500', currency: 'KES' });
  });

  it('is PENDING before it is paid, and right after; then SUCCESSFUL', async () => {
    await generate();
    expect(await payment()).toMatchObject({ status: 'PENDING', invoice: { status: 'PENDING' } });
    expect((await pay()).body.data).toMatchObject({ referenceId: 'i1', status: 'PENDING', amount: 500 });
    await rig.advance(2 * STEP_MS);
    expect(await payment()).toMatchObject({ status: 'SUCCESSFUL', invoice: { amount: '500', status: 'SUCCESSFUL' } });
    expect(await historyOf(rig, 'i1', 'createInvoice')).toEqual(['OPEN', 'PAID']);
    expect((await balances())['recipient:i1']).toEqual({ KES: '495' });
    expect(events()).toEqual(['transaction.status.updated', 'payment.confirmed']);
  });

  it('is paid in full or in another currency, and once', async () => {
    expect((await pay()).status).toBe(404);
    await generate();
    const short = await pay({ amount: 499 });
    expect([short.status, short.body.data.errors[0].path]).toEqual([400, 'amount']);
    expect((await pay({ currency: 'GHS', amount: 60 })).status).toBe(200);
    expect(await rig.executions('i1', 'payInvoice')).toBe(1);
    expect(await rig.executions('i1', 'createInvoice')).toBe(1);
  });

  it.each([
    ['failed', 'FAILED'],
    ['cancelled', 'FAILED'],
    ['expired', 'FAILED'],
    ['never', 'PENDING'],
    ['no-callbacks-ever', 'SUCCESSFUL'],
    ['success-after-timeout', 'SUCCESSFUL'],
    ['review', 'PENDING'],
  ])('whose payment goes as %s is %s', async (ending, status) => {
    await rig.control('POST', '/scenarios', { reference: 'i1', ending, operation: 'payInvoice' });
    expect((await generate()).status).toBe(200);
    expect((await pay()).status).toBe(200);
    await rig.advance(3 * 3_600_000);
    expect((await payment()).status).toBe(status);
    if (ending === 'no-callbacks-ever') expect(events()).toEqual([]);
  });

  it('and its payment are each refused by an ending of their own', async () => {
    expect((await generate({ amount: 500.31 })).status).toBe(400);
    expect((await generate({ amount: 500.41 })).status).toBe(200);
    expect((await pay({ amount: 500.41 })).body.error_code).toBe('TRANSACTION_FAILED');
    expect((await transactionOf(rig, 'i1')).operation).toBe('createInvoice');
  });
});

describe('a transaction of the sandbox', () => {
  it('is moved by control as far as its lifecycle allows', async () => {
    await create(rig, 'createOfframp', 'r1', { cryptoAmount: 10.17 });
    const move = (status: string) => rig.control('POST', '/transactions/r1/move', { status });
    expect((await move('SUCCESS')).status).toBe(400);
    expect((await move('CRYPTO_RECEIVED')).body).toMatchObject({ status: 'CRYPTO_RECEIVED', word: 'CRYPTO_RECEIVED' });
    expect((await move('SUCCESS')).status).toBe(200);
    expect((await move('FAILED')).status).toBe(400);
    expect((await rig.control('POST', '/transactions/none/move', { status: 'SUCCESS' })).status).toBe(404);
    const by = (await transactionOf(rig, 'r1')).history.map((step: { by: string }) => step.by) as string[];
    expect(by).toEqual(['request', 'control', 'control']);
  });
});
