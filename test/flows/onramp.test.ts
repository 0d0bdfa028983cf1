import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { trusted } from '../harness/inputs.js';
import { countCalls, endOf, eventOf, move, order, parked, stagesOf } from './ramps.js';

const HOUR_MS = 3_600_000;
const ADDRESS = '0xAbCdEf0123456789abcdef0123456789ABCDEF01';
/** As after the crypto was delivered. */
const ON_CHAIN = { public_address: ADDRESS, status: 'SUCCESSFUL', crypto_received_status: 'SUCCESSFUL' };
const MOBILE_MONEY = { phoneNumber: '+254712345678', accountName: 'Canary Customer', providerNetwork: 'VODACOM' };
const CHECKOUT = { fullName: 'Canary Customer', phoneNumber: '+254712345678', paymentMethod: 'CAPITECPAY' };

/** Specific to this kind: its two legs, and how its customer pays. The rest is in looked-up.test.ts. */
describe('an onramp', () => {
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

  const onramp = (word: string, ending = 'completed', more: Record<string, unknown> = {}) =>
    onrampAs(newReference(word), ending, more);
  const onrampAs = async (reference: string, ending: string, more: Record<string, unknown> = {}) => {
    await bench.control('POST', '/scenarios', { reference, ending });
    const handle = await bench.startFlow('onramp', reference, {
      referenceId: reference,
      fiatAmount: '1000.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: ADDRESS,
      mobileMoney: MOBILE_MONEY,
      deadlineSeconds: HOUR_MS / 1_000,
      ...more,
    });
    return { reference, handle };
  };
  const executions = (reference: string) => bench.executions('createOnramp', reference);
  const tracked = (handle: Awaited<ReturnType<typeof onramp>>['handle']) =>
    untilFlow(handle, ({ view }) => view.stage === 'fiat-leg' || view.stage === 'tracking');

  describe.each(['interface', 'live'])('in the words of the %s service, with all webhooks lost', (vocabulary) => {
    beforeEach(() => bench.control('POST', '/settings', { vocabulary }));

    test.each([
      ['mobile money', { mobileMoney: MOBILE_MONEY }],
      ['bank checkout', { mobileMoney: undefined, bankCheckout: CHECKOUT }],
      ['neither of both', { mobileMoney: undefined }],
    ])('completes with %s, once', async (_, more) => {
      const { reference, handle } = await onramp('happy', 'completed', more);
      const report = await endOf(handle);
      expect(report.view.outcome).toMatchObject({ state: 'completed', reason: null });
      expect(await executions(reference)).toBe(1);
    });

    test.each(['failed', 'cancelled', 'declined', 'expired'])(
      'a payment that %s ends it with nothing taken',
      async (how) => {
        const { reference, handle } = await onramp(how, how);
        const { view } = await endOf(handle);
        expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
        expect(await executions(reference)).toBe(1);
      },
    );

    test('a payment that was collected while the crypto failed is no failure: it parks', async () => {
      const { handle } = await onramp('crypto-failed', 'crypto-failed');
      const { view } = await parked(bench, handle);
      expect(view.parked).toMatchObject({
        reason: 'crypto_leg_failed',
        actions: ['mark-completed', 'mark-refunded', 'close-without-refund'],
        evidence: { words: expect.arrayContaining(['CRYPTO_FAILED']) },
      });
      expect(view.stage).toBe('crypto-leg');
      await order(handle, 'mark-refunded', 'sent the fiat back');
      expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'refunded' });
    });

    test('that is parked so is asked about a trusted event of another amount, with both sides', async () => {
      const { handle } = await onramp('crypto-failed-other', 'crypto-failed');
      await parked(bench, handle);
      await handle.signal('events', [trusted('SUCCESSFUL', { facts: { fiatAmount: '7' } })]);
      const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
      expect(view.parked?.evidence).toMatchObject({ theirs: { fiatAmount: '7' } });
      await order(handle, 'dismiss-event', 'it is of another payment');
      await untilFlow(handle, (report) => report.view.parked?.reason === 'crypto_leg_failed');
      await handle.terminate();
    });
  });

  test('shows its two legs as it goes', async () => {
    const { reference, handle } = await onramp('legs', 'never');
    await tracked(handle);
    await bench.pass(60_000);
    await noted(handle, 'status-looked-up', 'FIAT_PENDING');
    await move(bench, reference, 'CRYPTO_PENDING');
    await bench.pass(60_000);
    await noted(handle, 'status-looked-up', 'CRYPTO_PENDING');
    await move(bench, reference, 'PROCESSING', 'SUCCESS');
    const report = await endOf(handle);
    expect(report.view.state).toBe('completed');
    expect(stagesOf(report)).toEqual(expect.arrayContaining(['submitting', 'fiat-leg', 'crypto-leg', 'done']));
  });

  test('by events it completes with a single lookup, which decides', async () => {
    const calls = countCalls(bench, 'getOnChainDeposit', 'getMobileMoneyDeposit');
    const { reference, handle } = await onramp('events', 'never');
    await tracked(handle);
    const legs = (mobile: string, received: string) => ({
      event: 'transaction.onramp.status.updated',
      data: {
        referenceId: reference,
        status: 'PENDING',
        mobile_money_status: mobile,
        crypto_received_status: received,
      },
    });
    await handle.signal('events', [eventOf('onramp', legs('PENDING', 'PENDING'))]);
    await handle.signal('events', [eventOf('onramp', { event: 'payment.confirmed', data: { status: 'SUCCESSFUL' } })]);
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'crypto-leg');
    expect(view.state).toBe('running');
    await move(bench, reference, 'CRYPTO_PENDING', 'PROCESSING', 'SUCCESS');
    await handle.signal('events', [
      eventOf('onramp', {
        event: 'deposit.onchain.successful',
        data: {
          reference_id: reference,
          status: 'SUCCESSFUL',
          mobile_money_status: 'SUCCESSFUL',
          crypto_received_status: 'SUCCESSFUL',
          amount: 1000.5,
          currency: 'KES',
          crypto_amount: 7.7,
        },
      }),
    ]);
    const report = await untilFlow(handle, ({ view: { outcome } }) => outcome !== null);
    expect(report.view.outcome).toMatchObject({ state: 'completed' });
    expect(calls).toEqual({ getOnChainDeposit: 1, getMobileMoneyDeposit: 0 });
  });

  test('hands the redirect URL out by its answer, and nowhere else', async () => {
    const { handle } = await onramp('redirect', 'never', { mobileMoney: undefined, bankCheckout: CHECKOUT });
    const answer = await handle.executeUpdate<{ answer: { redirectUrl: string } }, []>('answer');
    expect(answer).toMatchObject({ kind: 'accepted', answer: { redirectUrl: expect.stringContaining('/checkout/') } });
    const report = await untilFlow(handle, (now) => now.view.stage !== 'submitting');
    expect(entriesOf(report.view, 'pays-at-redirect')).toHaveLength(1);
    expect(JSON.stringify(report)).not.toContain(answer.answer.redirectUrl);
    expect(JSON.stringify(report)).not.toMatch(/Canary|712345678/);
    await handle.terminate();
  });

  test('a payment that only getMobileMoneyDeposit knows so far is followed by that', async () => {
    const { handle } = await onramp('besides', 'failed');
    await bench.control('POST', '/faults', {
      operation: 'getOnChainDeposit',
      kind: 'fail-first',
      rate: 1,
      status: 404,
    });
    const { view } = await endOf(handle);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test.each([
    ['completed', 'shows no payment', () => Promise.resolve({ onchain: ON_CHAIN })],
    ['failed', 'knows nothing', undefined],
  ])('a payment of another amount that %s is not its own, if getOnChainDeposit %s', async (ending, _, onChain) => {
    await bench.control('POST', '/settings', { repeatMode: 'same-result' });
    const reference = newReference('used');
    await bench.control('POST', '/scenarios', { reference, ending });
    const body = { chain: 'CELO', token: 'USDC', receiverAddress: ADDRESS, currency: 'KES' } as const;
    const theirs = { ...body, fiatAmount: 9, referenceId: reference, callbackUrl: 'http://127.0.0.1:9/' };
    await bench.deps.service.createOnramp(theirs);
    if (onChain === undefined) {
      const fault = { operation: 'getOnChainDeposit', kind: 'fail-first', rate: 1, status: 404 };
      await bench.control('POST', '/faults', fault);
    } else jest.spyOn(bench.deps.service, 'getOnChainDeposit').mockImplementation(onChain);
    const { handle } = await onrampAs(reference, ending);
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { differs: ['fiatAmount'] } });
    jest.restoreAllMocks();
    await handle.terminate();
  });

  test('a record that names another reference, and no address, is not its own', async () => {
    const { handle } = await onramp('other-leg', 'never');
    await tracked(handle);
    const leg = { reference_id: 'of-another', status: 'SUCCESSFUL', crypto_received_status: 'SUCCESSFUL' };
    jest.spyOn(bench.deps.service, 'getOnChainDeposit').mockResolvedValue({ onchain: leg });
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { theirs: { onChainReference: 'of-another' } } });
    jest.restoreAllMocks();
    await handle.terminate();
  });

  test('crypto that came back is no refund while the service shows no payment: the fiat may be collected', async () => {
    const { handle } = await onramp('reversed', 'never');
    await tracked(handle);
    await bench.control('POST', '/faults', {
      operation: 'getMobileMoneyDeposit',
      kind: 'fail-first',
      rate: 1,
      status: 404,
    });
    const onchain = { ...ON_CHAIN, status: 'REVERSED', crypto_received_status: 'REVERSED' };
    jest.spyOn(bench.deps.service, 'getOnChainDeposit').mockResolvedValue({ onchain });
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({
      reason: 'crypto_leg_failed',
      evidence: { words: expect.arrayContaining(['CRYPTO_REVERSED']) },
    });
    jest.restoreAllMocks();
    await handle.terminate();
  });

  test('with the answer of a bank checkout its redirect URL is lost, with an entry of the timeline', async () => {
    await bench.control('POST', '/faults', { operation: 'createOnramp', kind: 'answer-lost', first: 1 });
    const { reference, handle } = await onramp('lost-url', 'never', {
      mobileMoney: undefined,
      bankCheckout: CHECKOUT,
    });
    const answer = await handle.executeUpdate('answer');
    expect(answer).toMatchObject({ kind: 'accepted', answer: { referenceId: reference } });
    await noted(handle, 'redirect-lost');
    await handle.terminate();
  });

  test.each(['review', 'crypto-never'])(
    '%s: at its deadline it parks, and a late event resolves it',
    async (ending) => {
      const { reference, handle } = await onramp('late', ending);
      const { view } = await parked(bench, handle);
      expect(view.parked?.reason).toBe('no_settlement');
      const toMove = ending === 'crypto-never' ? [] : ['CRYPTO_PENDING'];
      await move(bench, reference, ...toMove, 'PROCESSING', 'SUCCESS');
      await handle.signal('events', [eventOf('onramp', { referenceId: reference, status: 'SUCCESS' })]);
      const { view: after } = await untilFlow(handle, (report) => report.view.outcome !== null);
      expect(after.outcome).toMatchObject({ state: 'completed' });
    },
  );

  test('a payment that failed after it had been collected is a contradiction, not a failure', async () => {
    const { reference, handle } = await onramp('contradiction', 'failed');
    await noted(handle, 'accepted');
    await handle.signal('events', [
      eventOf('onramp', { event: 'payment.confirmed', data: { referenceId: reference, status: 'SUCCESSFUL' } }),
    ]);
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({ reason: 'conflict' });
    await order(handle, 'mark-failed', 'it was another payment');
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'closed_by_person' });
  });

  test.each([
    ['currency', { currency: 'EUR' }],
    ['chain', { chain: 'BITCOIN' }],
    ['token', { token: 'DOGE' }],
    ['fiatAmount', { fiatAmount: '-1' }],
    ['fiatAmount', { fiatAmount: '10.005' }],
    ['fiatAmount', { fiatAmount: '10.5', currency: 'UGX' }],
    ['receiverAddress', { receiverAddress: '' }],
    ['mobileMoney.phoneNumber', { mobileMoney: { ...MOBILE_MONEY, phoneNumber: '0712 345 678' } }],
    ['bankCheckout.phoneNumber', { bankCheckout: { ...CHECKOUT, phoneNumber: '+2547' } }],
    ['bankCheckout.paymentMethod', { bankCheckout: { ...CHECKOUT, paymentMethod: '' } }],
    ['referenceId', { referenceId: 'a..b' }],
    ['deadlineSeconds', { deadlineSeconds: 0 }],
  ])('is refused before anything is sent where %s is wrong, by name and without its value', async (member, wrong) => {
    const { reference, handle } = await onramp('wrong', 'completed', wrong);
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(view.outcome?.detail).toContain(`${member}: `);
    expect(view.outcome?.detail).not.toMatch(/Canary|712|DOGE|BITCOIN|EUR"?$/);
    expect(await executions(reference)).toBe(0);
  });
});
