import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { RejectedError, ServiceUnavailableError } from '../../src/service-client/index.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import bankCheckout from '../kinds/bank-checkout.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import { ended, inInbox, noted, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
const INVOICE = { currency: 'KES', amount: '1000.50' };

const refusal = (operation: 'sendCrypto' | 'createBankWithdrawal' | 'createInvoice', message: string) =>
  new RejectedError(operation, { httpStatus: 400, message, fields: [], isRateExpired: false, isAboutReference: false });

describe('a POST that is not the only one under its reference', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let hasNoQuotes = false;
  /** The payment of another invoice is shown under this reference. */
  let isOtherPaid = false;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      // Something on the way sends it twice: the first one uses the balance up, and the answer is that of the second.
      sendCrypto: async (body) => {
        await service.sendCrypto(body);
        throw refusal('sendCrypto', 'Insufficient balance');
      },
      createBankWithdrawal: async ({ referenceId }) => {
        await inInbox(decisions, `bank-withdrawal/${referenceId}`, 'SUCCESSFUL', { proof: null });
        throw refusal('createBankWithdrawal', 'Insufficient balance');
      },
      createBankCheckout: async (body) => ({ ...(await service.createBankCheckout(body)), amount: '9' }),
      createBridgeDeposit: async (body) => ({
        ...(await service.createBridgeDeposit(body)),
        payment_hash: 'b'.repeat(64),
      }),
      getInvoicePayment: async (referenceId) =>
        isOtherPaid
          ? { referenceId, status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' }
          : service.getInvoicePayment(referenceId),
      quoteBridge: (body, options) =>
        hasNoQuotes
          ? Promise.reject(new ServiceUnavailableError('quoteBridge', 'http-status', 503))
          : service.quoteBridge(body, options),
    }));
  });
  afterEach(() => {
    hasNoQuotes = false;
    isOtherPaid = false;
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  test('is looked up when it is refused: the service shows the first copy', async () => {
    const reference = newReference('twice');
    const input = { ...cryptoSend.input(reference), ...LONG };
    const handle = await decisions.bench.startFlow('crypto-send', reference, input);
    await noted(handle, 'accepted');
    expect(await decisions.executions('sendCrypto', reference)).toBe(1);
    await handle.terminate();
  });

  test('is no failure against an untrusted success, if it is refused and has no lookup: a person is asked', async () => {
    const reference = newReference('claimed');
    const input = { ...bankWithdrawal.input(reference), ...LONG };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict' });
    await handle.terminate();
  });

  test('is not followed if the answer is of another amount: a person is asked', async () => {
    const reference = newReference('first-result');
    const input = { ...bankCheckout.input(reference), amount: '250.50', currency: 'ZAR', ...LONG };
    const handle = await decisions.bench.startFlow('bank-checkout', reference, input);
    const evidence = { differs: ['amount'], ours: { amount: '250.5' }, theirs: { amount: '9' } };
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence });
    await handle.terminate();
  });

  test('is not followed if the answer is for another payment hash: a person is asked', async () => {
    const reference = newReference('other-hash');
    const input = transferInput(reference, LONG) as { crypto_payment: object };
    const handle = await decisions.bench.start({
      ...input,
      crypto_payment: { ...input.crypto_payment, payment_hash: 'A'.repeat(64) },
    });
    const evidence = {
      ours: { 'crypto_payment.payment_hash': 'a'.repeat(64) },
      theirs: { 'crypto_payment.payment_hash': 'b'.repeat(64) },
    };
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence });
    await handle.signal('events', [trusted('REFUNDED')]);
    await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
    await until('it to be asked again', async () => {
      const { parked } = (await handle.query<FlowReport>('flow')).view;
      return JSON.stringify(parked?.evidence ?? '').includes('REFUNDED');
    });
    await resolve(handle, 'mark-failed');
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
  });

  test('is followed if the answer has the same payment hash in another spelling, or the input has none to compare', async () => {
    for (const hash of ['0xBBbb' + 'b'.repeat(60), 'not known yet']) {
      const input = transferInput(newReference('same-hash'), LONG) as { crypto_payment: object };
      const handle = await decisions.bench.start({
        ...input,
        crypto_payment: { ...input.crypto_payment, payment_hash: hash },
      });
      expect((await noted(handle, 'accepted')).view).toMatchObject({ stage: 'tracking', parked: null });
      await handle.terminate();
    }
  });

  test('is an invoice that pays another account: it is not paid, and shows the ends of both accounts only', async () => {
    const reference = newReference('other-account');
    const other = { ...bank, accountNumber: '0099990000' };
    const { service } = decisions.bench.deps;
    await service.createInvoice({ referenceId: reference, currency: 'KES', amount: 1000.5, bank: other });
    const input = { referenceId: reference, ...INVOICE, bank, payment: { mobileMoney }, ...LONG };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'duplicate_mismatch',
      evidence: { ours: { bankAccount: '…5678' }, theirs: { bankAccount: '…0000' } },
    });
    expect(JSON.stringify(view)).not.toMatch(/0012345678|0099990000/);
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
    await handle.terminate();
  });

  describe('is an invoice of another account,', () => {
    const waiting = async (word: string) => {
      const reference = newReference(word);
      const other = { ...bank, accountNumber: '0099990000' };
      const { service } = decisions.bench.deps;
      await service.createInvoice({ referenceId: reference, currency: 'KES', amount: 1000.5, bank: other });
      return { reference, input: { referenceId: reference, ...INVOICE, bank, payment: { mobileMoney }, ...LONG } };
    };
    const start = async (word: string) => {
      const { reference, input } = await waiting(word);
      const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
      expect((await parked(handle)).parked).toMatchObject({ reason: 'duplicate_mismatch' });
      return { reference, handle };
    };
    const expectConflict = async (handle: WorkflowHandle) => {
      const evidence = { differs: ['bankAccount'], theirs: { bankAccount: '…0000' } };
      const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'conflict');
      expect(view.parked).toMatchObject({ evidence });
      await resolve(handle, 'mark-failed');
      expect(await ended(handle)).toMatchObject({ state: 'failed' });
    };

    test('and of which a trusted event reports that it was paid: a person can decide', async () => {
      const { handle } = await start('other-reported');
      await handle.signal('events', [trusted('CONFIRMED', { source: 'webhook' })]);
      await expectConflict(handle);
    });

    test('and which was paid before a person closes it: it is not called completed', async () => {
      const { handle } = await start('other-paid');
      isOtherPaid = true;
      await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({
        cause: { type: 'decided_meanwhile' },
      });
      await expectConflict(handle);
    });

    test('and which was paid before it is read: it is compared, too', async () => {
      const { reference, input } = await waiting('other-first');
      // It holds no invoice back: that moves nothing.
      const event = await inInbox(decisions, `invoice-payment/${reference}`, 'SUCCESSFUL');
      isOtherPaid = true;
      const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
      await handle.signal('events', [event]);
      await expectConflict(handle);
    });
  });

  test('is never made once its flow expired before the first quote, not even after a reset', async () => {
    hasNoQuotes = true;
    const reference = newReference('no-quote');
    const handle = await decisions.bench.start(
      transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds: 60 }),
    );
    await decisions.bench.pass(60_000 * TIME_SCALE);
    expect(await ended(handle)).toMatchObject({ state: 'expired' });
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    expect(await decisions.store.claims.get(key)).toMatchObject({ phase: 'void' });
  });
});
