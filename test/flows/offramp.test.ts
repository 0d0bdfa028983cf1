import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { countCalls, endOf, eventOf, move, order, parked, stagesOf } from './ramps.js';

const MOBILE = { phoneNumber: '+254712345678', accountName: 'Canary Receiver', networkProvider: 'TIGO' };
const BANK = {
  name: 'Canary Receiver',
  accountNumber: '0012345',
  bankCode: '0250',
  country: 'ZAF',
  phoneNumber: '0821234567',
};

/** Specific to this kind: who is paid, and its refund. The rest is in looked-up.test.ts. */
describe('an offramp', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 5 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/settings', {
      vocabulary: 'interface',
      numbersAsStrings: false,
      repeatMode: 'conflict',
    });
  });

  const offramp = async (word: string, ending = 'completed', more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending });
    const handle = await bench.startFlow('offramp', reference, {
      referenceId: reference,
      cryptoAmount: '12.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      mobileMoneyReceiver: MOBILE,
      ...more,
    });
    return { reference, handle };
  };
  const executions = (reference: string) => bench.executions('createOfframp', reference);
  const tracked = (handle: Awaited<ReturnType<typeof offramp>>['handle']) =>
    untilFlow(handle, ({ view }) => ['tracking', 'crypto-leg', 'fiat-leg'].includes(view.stage));

  describe.each(['interface', 'live'])('in the words of the %s service, with all webhooks lost', (vocabulary) => {
    beforeEach(() => bench.control('POST', '/settings', { vocabulary }));

    test.each([
      ['a phone', { mobileMoneyReceiver: MOBILE }],
      ['a bank account', { mobileMoneyReceiver: undefined, bankReceiver: BANK, currency: 'ZAR' }],
      ['both', { bankReceiver: { ...BANK, bankCode: 250 } }],
      ['the wallet of the integrator', { mobileMoneyReceiver: undefined }],
    ])('completes to %s, once', async (_, more) => {
      const { reference, handle } = await offramp('happy', 'completed', more);
      const report = await endOf(handle);
      expect(report.view.outcome).toMatchObject({ state: 'completed', reason: null });
      expect(JSON.stringify(report)).not.toMatch(/Canary|712345678|0012345/);
      expect(await executions(reference)).toBe(1);
    });

    test('FAILED is not its end: it is refunded by itself', async () => {
      const { reference, handle } = await offramp('refunded', 'failed-then-refunded');
      const report = await endOf(handle);
      expect(report.view.outcome).toMatchObject({ state: 'refunded', reason: null });
      expect(stagesOf(report)).toContain('refund');
      expect(await executions(reference)).toBe(1);
    });

    test('one whose crypto never came fails, with nothing to refund', async () => {
      const { handle } = await offramp('early', 'failed-early');
      const { view } = await endOf(handle);
      expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
      expect(entriesOf(view, 'status-looked-up', 'CRYPTO_NOT_RECEIVED')).toHaveLength(1);
    });

    test('a refund that failed parks; a person marks it as done', async () => {
      const { handle } = await offramp('refund-failed', 'refund-failed');
      const { view } = await parked(bench, handle);
      expect(view.parked).toMatchObject({
        reason: 'refund_failed',
        actions: ['mark-refunded', 'close-without-refund'],
      });
      await order(handle, 'mark-refunded');
      expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'refunded' });
    });

    test('a refund that never comes parks at the deadline, and is not called failed', async () => {
      const { reference, handle } = await offramp('no-refund', 'failed-no-refund');
      const { view } = await parked(bench, handle);
      expect(view.parked).toMatchObject({ reason: 'refund_pending' });
      await move(bench, reference, 'REFUND_PENDING', 'REFUNDED');
      await handle.signal('events', [
        eventOf('offramp', { event: 'refund.completed', data: { referenceId: reference } }),
      ]);
      const { view: after } = await untilFlow(handle, (report) => report.view.outcome !== null);
      expect(after.outcome).toMatchObject({ state: 'refunded' });
    });
  });

  test('by events it completes with a single lookup, which decides', async () => {
    const calls = countCalls(bench, 'getOfframp');
    const { reference, handle } = await offramp('events', 'payout-never');
    await tracked(handle);
    const callback = (status: string) => ({ referenceId: reference, status, cryptoAmount: 12.5, fiatCurrency: 'KES' });
    await handle.signal('events', [eventOf('offramp', callback('CRYPTO_RECEIVED'))]);
    await untilFlow(handle, ({ view }) => view.stage === 'fiat-leg');
    await untilFlow(handle, () => true);
    await waitFor(
      async () => (await bench.control('GET', `/transactions/${reference}`)).transactions[0].status,
      'CRYPTO_RECEIVED',
    );
    await move(bench, reference, 'SUCCESS');
    const data = { ...callback('SUCCESS'), cryptoAmount: '12.50000' };
    await handle.signal('events', [eventOf('offramp', { event: 'transaction.offramp.status.updated', data })]);
    const { view, events } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'completed' });
    expect(Object.values(events)).toEqual(['applied', 'applied']);
    expect(calls).toEqual({ getOfframp: 1 });
  });

  test('after a lost answer the lookup adopts it, in any spelling of its address: executed once', async () => {
    await bench.control('POST', '/faults', { operation: 'createOfframp', kind: 'answer-lost', first: 1 });
    const senderAddress = '0xAbCdEf0123456789abcdef0123456789ABCDEF01';
    const { reference, handle } = await offramp('lost', 'completed', { senderAddress });
    expect((await endOf(handle)).view.state).toBe('completed');
    expect(await executions(reference)).toBe(1);
  });

  test.each(['payout-never', 'review'])(
    '%s: at its deadline it parks, and a late event resolves it',
    async (ending) => {
      const { reference, handle } = await offramp('late', ending);
      const { view } = await parked(bench, handle);
      expect(view.parked?.reason).toBe('no_settlement');
      await move(bench, reference, 'SUCCESS');
      await handle.signal('events', [eventOf('offramp', { referenceId: reference, status: 'SUCCESS' })]);
      const { view: after } = await untilFlow(handle, (report) => report.view.outcome !== null);
      expect(after.outcome).toMatchObject({ state: 'completed' });
    },
  );

  test('SUCCESS against a refund is a contradiction that parks', async () => {
    const { reference, handle } = await offramp('contradiction', 'failed-then-refunded');
    await noted(handle, 'accepted');
    await handle.signal('events', [eventOf('offramp', { referenceId: reference, status: 'SUCCESS' })]);
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({ reason: 'conflict' });
    await handle.terminate();
  });

  test('a trusted event about another amount parks, with both sides shown', async () => {
    const { reference, handle } = await offramp('differs', 'payout-never');
    await tracked(handle);
    await handle.signal('events', [
      eventOf('offramp', { referenceId: reference, status: 'SUCCESS', cryptoAmount: 13 }),
    ]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { ours: { cryptoAmount: '12.5' }, theirs: { cryptoAmount: '13' } },
    });
    await order(handle, 'dismiss-event');
    await untilFlow(handle, (report) => report.view.state === 'running');
    await handle.terminate();
  });

  test.each([
    ['currency', { currency: 'NGN' }],
    ['chain', { chain: 'BITCOIN' }],
    ['token', { token: 'DOGE' }],
    ['cryptoAmount', { cryptoAmount: '0' }],
    ['cryptoAmount', { cryptoAmount: '1.1234567' }],
    ['cryptoAmount', { cryptoAmount: '1.5', token: 'SAT', chain: 'LIGHTNING' }],
    ['mobileMoneyReceiver.phoneNumber', { mobileMoneyReceiver: { ...MOBILE, phoneNumber: '0712345678' } }],
    ['bankReceiver.phoneNumber', { bankReceiver: { ...BANK, phoneNumber: 'Canary' } }],
    ['bankReceiver.country', { bankReceiver: { ...BANK, country: 'Canaria' } }],
    ['bankReceiver.accountNumber', { bankReceiver: { ...BANK, accountNumber: '' } }],
    ['referenceId', { referenceId: 'x.refund' }],
  ])('is refused before anything is sent where %s is wrong, by name and without its value', async (member, wrong) => {
    const { reference, handle } = await offramp('wrong', 'completed', wrong);
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(view.outcome?.detail).toContain(`${member}: `);
    expect(view.outcome?.detail).not.toMatch(/Canar|712|DOGE|BITCOIN|NGN/);
    expect(await executions(reference)).toBe(0);
  });
});

async function waitFor(ask: () => Promise<string>, word: string): Promise<void> {
  for (let tries = 1; (await ask()) !== word; tries += 1) {
    if (tries > 200) throw new Error(`never ${word}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
