import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import type { FlowReport } from '../../src/api/flow.js';
import { flowInput } from '../harness/kind.js';
import { KINDS } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { bolt11 } from './bolt11.js';
import { openCardBench, type CardBench } from './cards/card-bench.js';
import { endOf, eventOf } from './ramps.js';

const DUE_MSAT = 2_100_000;

/** No gateway listens: every callback and webhook is lost. */
describe.each(['live', 'interface'] as const)('with SERVICE_PROFILE=%s, all webhooks lost,', (profile) => {
  const deps = profile === 'live' ? { live: LIVE_OPERATIONS } : {};
  let bench: Stack;
  let cards: CardBench;
  beforeAll(async () => {
    [bench, cards] = await Promise.all([
      openStack({ time: 'skipping', sandbox: { stepMs: 20 }, deps }),
      openCardBench(deps),
    ]);
    for (const one of [bench, cards.bench]) await one.control('POST', '/settings', { liveOperations: true });
  });
  beforeEach(async () => {
    for (const one of [bench, cards.bench]) await one.control('DELETE', '/faults');
  });
  afterEach(async () => Promise.all([bench.terminateAll(), cards.bench.terminateAll()]));
  afterAll(async () => Promise.all([bench.close(), cards.close()]));

  const answerLost = (one: Stack, operation: string) =>
    one.control('POST', '/faults', { operation, kind: 'answer-lost', first: 1 });
  const started = async (kind: 'bank-withdrawal' | 'bridge-transfer', ending: string) => {
    const named = KINDS.find((one) => one.kind === kind);
    if (named === undefined) throw new TypeError(kind);
    const reference = newReference(`${profile}-${ending}`);
    await bench.control('POST', '/scenarios', { reference, ending, operation: named.record });
    return { reference, handle: await bench.startFlow(kind, reference, flowInput(named, reference)) };
  };
  const parkedAs = async (one: Stack, handle: WorkflowHandle): Promise<string | undefined> => {
    for (let turn = 1; turn <= 60; turn += 1) {
      const { view } = await handle.query<FlowReport>('flow');
      if (view.parked !== null) return view.parked.reason;
      await one.pass(60_000);
    }
    return undefined;
  };

  test.each([
    ['bank-withdrawal', 'createBankWithdrawal'],
    ['bridge-transfer', 'createBridgeDeposit'],
  ] as const)('a %s whose answer was lost is looked up and completes, or parks', async (kind, operation) => {
    await answerLost(bench, operation);
    const { reference, handle } = await started(kind, 'completed');
    if (profile === 'live') expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'completed' });
    else expect(await parkedAs(bench, handle)).toBe('unknown_outcome');
    expect(await bench.executions(operation, reference)).toBe(1);
  });

  test('a card deposit whose answer was lost is looked up and completes, or parks', async () => {
    await answerLost(cards.bench, 'createCardDeposit');
    const { reference, handle } = await cards.deposit(`card-${profile}`);
    if (profile === 'live') expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'completed' });
    else expect(await parkedAs(cards.bench, handle)).toBe('unknown_outcome');
    expect(await cards.bench.executions('createCardDeposit', reference)).toBe(1);
  });

  test('a bank withdrawal that fails ends as failed, or parks', async () => {
    const { handle } = await started('bank-withdrawal', 'failed');
    if (profile === 'live')
      expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
    else await untilFlow(handle, ({ view }) => view.stage === 'tracking');
  });

  test('the refund invoice of an offramp is handed over by the flow, or by a person', async () => {
    const reference = newReference(`invoice-${profile}`);
    await bench.control('POST', '/scenarios', { reference, ending: 'refund-needs-invoice' });
    const handle = await bench.startFlow('offramp', reference, {
      referenceId: reference,
      currency: 'KES',
      chain: 'LIGHTNING',
      token: 'SAT',
      cryptoAmount: '2100',
    });
    await untilFlow(handle, ({ view }) => view.stage !== 'submitting' && view.stage !== 'preparing');
    const data = { reference_id: reference, status: 'REFUND_PENDING', crypto_amount: 2_100, token: 'SAT' };
    await handle.signal('events', [eventOf('offramp', { event: 'refund.lightning.invoice_needed', data })]);
    expect(await parkedAs(bench, handle)).toBe('refund_invoice_needed');
    const invoice = bolt11({ amountMsat: DUE_MSAT });
    await handle.executeUpdate('provideRefundInvoice', { args: [{ actor: 'ada', invoice }] });
    if (profile === 'live') expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'refunded' });
    else expect(await parkedAs(bench, handle)).toBe('refund_invoice_ready');
  });
});
