import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from '../harness/stack.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

export interface ResetEnd {
  readonly runs: number;
  readonly state: string;
  readonly executions: number;
}

/**
 * Resets each of n flows `times` times to before its POST: the first ones while it waits for its settlement, the last one
 * after it has ended.
 */
export function resetFlows(bench: Stack, n: number, times: number): Promise<readonly ResetEnd[]> {
  const references = Array.from({ length: n }, () => newReference('reset'));
  return inTurns(references, 10, async (reference) => {
    const { workflowId } = await bench.start(transferInput(reference));
    // Of the latest run.
    const handle = bench.client.workflow.getHandle(workflowId);
    const runs = new Set<string>();
    for (let reset = 1; reset < times; reset += 1) {
      await tracked(handle, runs);
      await resetToBeforeThePost(bench, handle);
    }
    await tracked(handle, runs);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    await resetToBeforeThePost(bench, handle);
    const { view } = (await handle.result()) as FlowReport;
    runs.add((await handle.describe()).runId);
    const executions = await bench.executions('createBridgeDeposit', reference);
    return { runs: runs.size, state: view.state, executions };
  });
}

export const resetEnd = (times: number): ResetEnd => ({ runs: times + 1, state: 'completed', executions: 1 });

async function tracked(handle: WorkflowHandle, runs: Set<string>): Promise<void> {
  await untilFlow(handle, ({ view }) => view.stage === 'tracking');
  runs.add((await handle.describe()).runId);
}

/** The effect of the UI's reset: a new run whose history ends before its first step, after which it sends. */
async function resetToBeforeThePost(bench: Stack, handle: WorkflowHandle): Promise<void> {
  const { events } = await handle.fetchHistory();
  const decision = events?.find((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
  if (decision == null) throw new Error(`${handle.workflowId} has decided nothing`);
  await bench.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
    reason: 'a test of resets',
    requestId: randomUUID(),
    workflowTaskFinishEventId: decision,
  });
}
