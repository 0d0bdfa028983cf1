import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { resetEnd, resetFlows } from './resets.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

describe('the claim of a reference, after the POST,', () => {
  let bench: Stack;
  beforeAll(async () => {
    // The service executes a repeat again, so that a second POST cannot hide.
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000, repeatMode: 'execute-again' } });
  });
  afterAll(() => bench.close());

  it('keeps a flow that is reset to before it, while it waits and after its end, from a second execution', async () => {
    expect(await resetFlows(bench, 1, 2)).toEqual([resetEnd(2)]);
  });

  it('keeps a reference that is started again after Temporal forgot it from a second execution: it gets the same answer', async () => {
    const reference = newReference('paid');
    const first = await bench.start(transferInput(reference));
    const { runId: firstRunId } = await first.describe();
    await complete(first);

    // The time setting is nothing that the caller decides: with another one it is the same request.
    const anew = await startAnew(first, transferInput(reference, { timeScale: 0.5 }));
    await complete(anew);
    expect(anew.firstExecutionRunId).not.toBe(firstRunId);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });

  it('keeps a reference that was refused from a second POST: started again, it ends as rejected_by_service', async () => {
    const reference = newReference('refused');
    const first = await bench.start(transferInput(reference, { amount: '1000.41' }));
    expect(await failureOf(first)).toBe('rejected_by_service');

    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', reference, kind: 'answer-lost' });
    const anew = await startAnew(first, transferInput(reference, { amount: '1000.41', timeScale: 0.5 }));
    expect(await failureOf(anew)).toBe('rejected_by_service');
    const injected = await bench.control('GET', `/faults/log?operation=createBridgeDeposit&reference=${reference}`);
    expect(injected['count']).toBe(0);
  });

  async function complete(handle: WorkflowHandle): Promise<void> {
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  }

  function failureOf(handle: WorkflowHandle): Promise<string> {
    return handle.result().then(
      () => 'none',
      (failure: { cause?: { type?: string } }) => failure.cause?.type ?? 'another',
    );
  }

  /** As after the namespace's retention, when Temporal has forgotten the flow. */
  async function startAnew(first: WorkflowHandle, input: Record<string, unknown>) {
    const { taskQueue } = await first.describe();
    return bench.client.workflow.start('bridgeTransfer', {
      taskQueue,
      workflowId: first.workflowId,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  }
});
