import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import type { MoneyOperationName } from '../../src/contract/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { SubmitAnswer } from '../../src/protocol/messages.js';
import { ACCOUNT } from '../harness/fixed.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { EXAMPLES, makeBefore } from './retry-safety/examples.js';

const TIME_SCALE = 0.005;
const LATE_MS = 30_000;

/** Another send of a card deposit cannot be ordered: its card is gone. */
const OPERATIONS = (Object.keys(EXAMPLES) as MoneyOperationName[]).filter((name) => name !== 'createCardDeposit');
const WITH_A_RATE: readonly MoneyOperationName[] = ['createOnramp', 'createOfframp'];

/**
 * The first send is executed long after its answer was lost, and may be the cause for refusing the next one: it used up
 * the balance.
 */
describe('another send that the service refuses', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const startLost = async (operation: MoneyOperationName, refusal: Record<string, unknown>) => {
    const example = EXAMPLES[operation];
    const reference = newReference(operation);
    await makeBefore(bench, example, reference);
    // Late by the sandbox's clock: the test moves it.
    await bench.control('POST', '/clock', { freeze: true });
    const rule = { operation, reference, first: 1 };
    await bench.control('POST', '/faults', { ...rule, kind: 'late-commit', delayMs: LATE_MS });
    await bench.control('POST', '/faults', { ...rule, ...refusal });
    const handle = await bench.startFlow(example.kind, reference, {
      ...example.input(reference),
      timeScale: TIME_SCALE,
    });
    return { reference, handle };
  };
  const parked = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.state === 'parked');
  const refused = (error: unknown) => expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
  const sendAgain = (handle: WorkflowHandle) =>
    handle.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'not there', actor: 'ada' }] });

  test.each(OPERATIONS.map((operation, at) => [operation, at % 2 === 0 ? 400 : 403] as const))(
    '%s (%d): proves nothing of the first one: unknown, never failed, and paid after all',
    async (operation, status) => {
      const { reference, handle } = await startLost(operation, { kind: 'error-before', status });
      const reason = (await parked(handle)).view.parked?.reason;
      await sendAgain(handle);
      const { view } = await untilFlow(handle, (report) => report.view.parked?.evidence['refused'] !== undefined);
      expect(view.parked).toMatchObject({ reason, evidence: { refused: expect.stringContaining(String(status)) } });
      const told: SubmitAnswer = await handle.executeUpdate('answer');
      expect(told).toEqual({ kind: 'none', reason });
      expect(await bench.store.claims.get({ account: ACCOUNT, operation, reference })).toMatchObject({
        phase: 'sending',
      });

      await bench.control('POST', '/clock', { advanceMs: LATE_MS });
      await bench.control('POST', '/clock', { unfreeze: true });
      expect(await bench.executions(operation, reference)).toBe(1);
      // Its lookup shows it by now: the one before the order, or the one in progress.
      if (operation === 'createInvoice') await sendAgain(handle).catch(refused);
      else await handle.signal('events', [trusted(EXAMPLES[operation].reportedAt ?? 'SUCCESSFUL')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await bench.executions(operation, reference)).toBe(1);
    },
  );

  test.each(WITH_A_RATE)(
    '%s: "Rate Expired" is looked up, and does not mean that nothing was moved',
    async (operation) => {
      const body = JSON.stringify({ success: false, message: 'Rate Expired', error_code: 400 });
      const { reference, handle } = await startLost(operation, { kind: 'garbage', body });
      await parked(handle);
      await bench.control('POST', '/clock', { unfreeze: true });
      await sendAgain(handle);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await bench.executions(operation, reference)).toBe(1);
    },
  );

  test('the new quote for another send of a deposit is refused: unknown as before, and completed by an event', async () => {
    const { reference, handle } = await startLost('createBridgeDeposit', { kind: 'error-before', status: 400 });
    await parked(handle);
    await bench.control('POST', '/faults', { operation: 'quoteBridge', kind: 'error-before', status: 400, first: 1 });
    await sendAgain(handle);
    const { view } = await untilFlow(handle, (report) => String(report.view.parked?.evidence['why']).includes('400'));
    expect(view.parked).toMatchObject({ reason: 'unknown_outcome', evidence: { why: expect.stringContaining('400') } });
    // The order had no effect: nothing may be sent by it later, not even after a reset of the flow in the UI.
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    expect(await bench.store.claims.get(key)).toMatchObject({ phase: 'sending' });
    await bench.control('POST', '/clock', { advanceMs: LATE_MS });
    await bench.control('POST', '/clock', { unfreeze: true });
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });
});
