import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NEVER_RESERVED } from '../../src/protocol/fingerprint.js';
import type { ClaimPhase } from '../../src/store/claim.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, openDecisionBench, parked, refused, TIME_SCALE } from './bench.js';

const ACTOR: { args: [unknown] } = { args: [{ actor: 'ann' }] };

describe('a flow that has sent nothing, while an earlier run of it may have (it was reset in the UI)', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let noQuotes = false;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      quoteBridge: (request) => {
        if (!noQuotes) return service.quoteBridge(request);
        return Promise.reject(refused('quoteBridge'));
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());
  beforeEach(() => {
    noQuotes = false;
  });

  /** What the earlier run left behind. */
  const leave = async (flowId: string, operation: string, phase: ClaimPhase, fingerprint = NEVER_RESERVED) => {
    const key = { account: ACCOUNT, operation, reference: flowId.slice(flowId.indexOf('/') + 1) };
    const { claims } = decisions.store;
    await claims.reserve(key, { owner: 'gone', flowId, fingerprint });
    if (phase === 'reserved') return key;
    await claims.markSending(key, 'gone');
    if (phase === 'answered') await claims.recordAnswer(key, { kotani_reference_id: 'K', status: 'PENDING' });
    return key;
  };
  const waitingForApproval = async (word: string) => {
    const long = { timeScale: TIME_SCALE, deadlineSeconds: 2_592_000 };
    const input = transferInput(newReference(word), { approval: 'required', ...long });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    const fingerprint = String((await handle.describe()).memo?.['fingerprint']);
    return {
      handle,
      leave: (phase: ClaimPhase) => leave(handle.workflowId, 'createBridgeDeposit', phase, fingerprint),
    };
  };
  const phaseOf = async (key: Awaited<ReturnType<typeof leave>>) => (await decisions.store.claims.get(key))?.phase;

  test.each(['sending', 'answered'] as const)('is not cancelled where its claim is %s', async (phase) => {
    const { handle, leave: left } = await waitingForApproval(`cancel-${phase}`);
    const key = await left(phase);
    await expect(handle.executeUpdate('cancel', ACTOR)).rejects.toMatchObject({
      cause: { type: 'money_may_have_moved' },
    });
    expect(await phaseOf(key)).toBe(phase);
    await handle.terminate();
  });

  test('takes the answer of the earlier run if it continues, and sends nothing', async () => {
    const { handle, leave: left } = await waitingForApproval('adopted');
    const { reference } = await left('answered');
    await handle.executeUpdate('approveQuote', ACTOR);
    await untilFlow(handle, ({ view }) => view.serviceReference === 'K');
    expect(await decisions.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.terminate();
  });

  test.each([undefined, 'reserved'] as const)(
    'is cancelled where its claim is %s, which is void from then on',
    async (phase) => {
      const { handle, leave: left } = await waitingForApproval(`void-${phase}`);
      if (phase !== undefined) await left(phase);
      await handle.executeUpdate('cancel', ACTOR);
      expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
      const [claim] = await decisions.store.claims.ofFlow(handle.workflowId);
      expect(claim?.phase).toBe('void');
    },
  );

  test('is not called expired at its deadline: a person is asked', async () => {
    const reference = newReference('overdue');
    await leave(`bridge-transfer/${reference}`, 'createBridgeDeposit', 'sending');
    const soon = { timeScale: TIME_SCALE, deadlineSeconds: 60 };
    const handle = await decisions.bench.start(transferInput(reference, { approval: 'required', ...soon }));
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'unknown_outcome',
      evidence: { operation: 'createBridgeDeposit', claim: 'sending' },
    });
    await handle.terminate();
  });

  test('is not called failed if it gets no quote; it is if that run had only reserved', async () => {
    noQuotes = true;
    const [moved, reserved] = ['moved', 'reserved'].map(newReference) as [string, string];
    await leave(`bridge-transfer/${moved}`, 'createBridgeDeposit', 'answered');
    const handle = await decisions.bench.start(transferInput(moved, { timeScale: TIME_SCALE }));
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'step_failed',
      evidence: { code: 'earlier_run_may_have_sent' },
    });
    await handle.terminate();

    const key = await leave(`bridge-transfer/${reserved}`, 'createBridgeDeposit', 'reserved');
    const other = await decisions.bench.start(transferInput(reserved, { timeScale: TIME_SCALE }));
    expect((await ended(other)).outcome).toMatchObject({ state: 'failed', reason: 'quote_rejected' });
    expect(await phaseOf(key)).toBe('void');
  });

  test('refuses an order to pay that is another than the one that run had reserved for', async () => {
    const reference = newReference('pay-later');
    const key = await leave(`invoice-payment/${reference}`, 'payInvoice', 'reserved', 'of-another-payer');
    const invoice = { referenceId: reference, currency: 'KES', amount: '1000.50', bank };
    const input = { ...invoice, timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-payment');
    const order: typeof ACTOR = { args: [{ actor: 'ann', mobileMoney }] };
    await expect(handle.executeUpdate('pay', order)).rejects.toMatchObject({ cause: { type: 'other_request' } });
    expect(await phaseOf(key)).toBe('reserved');
    await handle.terminate();
  });

  test('is neither cancelled nor expired if the payment of its invoice may have been sent', async () => {
    const reference = newReference('invoice');
    const invoice = { referenceId: reference, currency: 'KES', amount: '1000.50', bank };
    const input = { ...invoice, timeScale: TIME_SCALE, deadlineSeconds: 300 };
    await leave(`invoice-payment/${reference}`, 'payInvoice', 'sending');
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'unknown_outcome',
      evidence: { operation: 'payInvoice', why: 'an earlier run of the flow began to send it' },
    });
    await expect(handle.executeUpdate('cancel', ACTOR)).rejects.toMatchObject({
      cause: { type: 'money_may_have_moved' },
    });
    await decisions.bench.pass(300_000 * TIME_SCALE);
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    await handle.terminate();
  });
});
