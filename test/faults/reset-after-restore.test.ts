import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import Libsql from 'libsql';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { exampleInput, transferInput } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { resumeFlow } from '../../src/temporal/resume-flow.js';

describe('a flow that is started again after its claim was lost in a restore (fault 55)', () => {
  let bench: Stack;
  beforeAll(async () => {
    // The service executes a repeat again, so that a second POST cannot hide.
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000, repeatMode: 'execute-again' } });
  });
  afterAll(() => bench.close());

  /** Both are tracking. */
  async function tracking() {
    const long = { timeScale: 0.001, deadlineSeconds: 2_592_000 };
    const sent = newReference('sent');
    const paid = newReference('paid');
    const send = await bench.startFlow('crypto-send', sent, { ...(await exampleInput('crypto-send', sent)), ...long });
    const transfer = await bench.start(transferInput(paid, long));
    for (const handle of [send, transfer]) await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return {
      send,
      transfer,
      restore: () => restoreToBeforeAnyClaim(bench),
      executions: () =>
        Promise.all([bench.executions('sendCrypto', sent), bench.executions('createBridgeDeposit', paid)]),
    };
  }

  /** What the lookup shows is followed; without a lookup a person is asked. */
  async function expectNothingSent({
    send,
    transfer,
    executions,
  }: Awaited<ReturnType<typeof tracking>>): Promise<void> {
    await untilFlow(latest(bench, send), ({ view }) =>
      view.timeline.some(({ code }) => code === 'status-looked-up' || code === 'accepted'),
    );
    const { view } = await untilFlow(latest(bench, transfer), (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('unknown_outcome');
    expect(await executions()).toEqual([1, 1]);
    for (const handle of [send, transfer]) await latest(bench, handle).terminate();
  }

  it('sends nothing a second time where it was reset', async () => {
    const flows = await tracking();
    await flows.restore();
    for (const handle of [flows.send, flows.transfer]) await resetToTheStart(bench, handle);
    await expectNothingSent(flows);
  });

  it('sends nothing a second time where it was terminated, and resumed', async () => {
    const flows = await tracking();
    for (const handle of [flows.send, flows.transfer]) await handle.terminate();
    await flows.restore();
    for (const handle of [flows.send, flows.transfer]) {
      const { runId } = await latest(bench, handle).describe();
      expect(await resumeFlow(bench.client, { flowId: handle.workflowId, runId }, randomUUID())).toBe('resumed');
    }
    await expectNothingSent(flows);
  });
});

const latest = (bench: Stack, { workflowId }: WorkflowHandle) => bench.client.workflow.getHandle(workflowId);

/** What an operator does with a copy from before both flows, and then `towline store raise-epoch`. */
async function restoreToBeforeAnyClaim(bench: Stack): Promise<void> {
  const file = new Libsql(bench.storePath);
  try {
    file.exec('DELETE FROM claims');
  } finally {
    file.close();
  }
  await bench.store.deployment.raiseEpoch(1);
}

/** What the UI's reset to the first workflow task does. */
async function resetToTheStart(bench: Stack, handle: WorkflowHandle): Promise<void> {
  const { events } = await handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  if (first?.eventId == null) throw new Error(`${handle.workflowId} has no workflow task`);
  await bench.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
    reason: 'a test of resets',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId,
  });
}
