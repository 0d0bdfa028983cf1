import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import onChainWatch from '../kinds/on-chain-watch.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { countCalls, endOf, eventOf, move, order, parked, stagesOf } from './ramps.js';

/** Specific to this kind: its two legs. The rest is in watched.test.ts. */
describe('an on-chain watch', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 5 } });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await bench.terminateAll();
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const watch = async (ending: string, body: Record<string, unknown> = {}) => {
    const reference = newReference('on-chain');
    await bench.control('POST', '/scenarios', { reference, ending, operation: onChainWatch.record });
    const begun = onChainWatch.begunBy(reference);
    await bench.control('POST', begun.path, { ...begun.body, ...body });
    return { reference, handle: await bench.startFlow('on-chain-watch', reference, onChainWatch.input(reference)) };
  };

  test('of a deposit whose crypto failed after the payment was collected is no failure: it parks, and can be cancelled', async () => {
    const { handle } = await watch('crypto-failed');
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({
      reason: 'crypto_leg_failed',
      actions: ['mark-completed', 'mark-refunded', 'close-without-refund'],
      evidence: { words: expect.arrayContaining(['CRYPTO_FAILED']) },
    });
    expect(view.stage).toBe('crypto-leg');
    await handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'cancelled' });
  });

  test('that is parked so is refunded when a person says that the customer has the fiat back', async () => {
    const { handle } = await watch('crypto-failed');
    await parked(bench, handle);
    await order(handle, 'mark-refunded', 'sent the fiat back');
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'refunded' });
  });

  test('shows the two legs as they go', async () => {
    const { reference, handle } = await watch('never');
    await noted(handle, 'status-looked-up', 'FIAT_PENDING');
    await move(bench, reference, 'CRYPTO_PENDING');
    await bench.pass(60_000);
    await noted(handle, 'status-looked-up', 'CRYPTO_PENDING');
    await move(bench, reference, 'PROCESSING', 'SUCCESS');
    const report = await endOf(handle);
    expect(report.view.state).toBe('completed');
    expect(stagesOf(report)).toEqual(expect.arrayContaining(['fiat-leg', 'crypto-leg', 'done']));
  });

  test('completes by deposit.onchain.successful with one lookup more, made at once', async () => {
    const calls = countCalls(bench, 'getOnChainDeposit', 'getMobileMoneyDeposit');
    const { reference, handle } = await watch('never');
    // One at once, whose FIAT_PENDING was new, and the slow one after it.
    await until('the second lookup', () => calls['getOnChainDeposit'] === 2);
    await move(bench, reference, 'CRYPTO_PENDING', 'PROCESSING', 'SUCCESS');
    const data = {
      reference_id: reference,
      status: 'SUCCESSFUL',
      mobile_money_status: 'SUCCESSFUL',
      crypto_received_status: 'SUCCESSFUL',
      amount: 250.5,
      currency: 'KES',
    };
    await handle.signal('events', [eventOf('on-chain-watch', { event: 'deposit.onchain.successful', data })]);
    const report = await untilFlow(handle, ({ view: { outcome } }) => outcome !== null);
    expect(report.view.outcome).toMatchObject({ state: 'completed' });
    expect(calls).toEqual({ getOnChainDeposit: 3, getMobileMoneyDeposit: 0 });
  });

  test('of a payment that only getMobileMoneyDeposit shows so far ends by that', async () => {
    const fault = { operation: 'getOnChainDeposit', kind: 'fail-first', rate: 1, status: 404 };
    await bench.control('POST', '/faults', fault);
    const { handle } = await watch('failed');
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test('of a deposit that is paid at a bank, which is no mobile money, completes as well', async () => {
    const bankCheckout = { fullName: 'Canary Customer', phoneNumber: '+27821234567', paymentMethod: 'CAPITECPAY' };
    const { handle } = await watch('completed', { mobileMoney: undefined, bankCheckout });
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'completed' });
  });

  test('compares nothing with a deposit whose terms it does not know, readable or not', async () => {
    const leg = { public_address: 'of anyone', status: 'SUCCESSFUL', crypto_received_status: 'SUCCESSFUL' };
    const payment = { reference_id: 'any', status: 'SUCCESSFUL', amount: undefined };
    const record = { mobile_money: payment, onchain: leg } as never;
    jest.spyOn(bench.deps.service, 'getOnChainDeposit').mockResolvedValue(record);
    const { handle } = await watch('never');
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'completed' });
  });
});
