import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Libsql from 'libsql';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { exampleInput, transferInput } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { resumeFlow } from '../../src/temporal/resume-flow.js';

describe('a flow that was terminated, and is resumed after its claim was lost in a restore,', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000, repeatMode: 'execute-again' } });
  });
  afterAll(() => bench.close());

  it('sends nothing a second time', async () => {
    const long = { timeScale: 0.001, deadlineSeconds: 2_592_000 };
    const sent = newReference('sent');
    const paid = newReference('paid');
    const send = await bench.startFlow('crypto-send', sent, { ...(await exampleInput('crypto-send', sent)), ...long });
    const transfer = await bench.start(transferInput(paid, long));
    for (const handle of [send, transfer]) await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    for (const handle of [send, transfer]) await handle.terminate();
    const file = new Libsql(bench.storePath);
    file.exec('DELETE FROM claims');
    file.close();
    await bench.store.deployment.raiseEpoch(1);
    for (const { workflowId } of [send, transfer]) {
      const { runId } = await bench.client.workflow.getHandle(workflowId).describe();
      expect(await resumeFlow(bench.client, { flowId: workflowId, runId }, randomUUID())).toBe('resumed');
    }
    for (const { workflowId } of [send, transfer])
      await untilFlow(
        bench.client.workflow.getHandle(workflowId),
        ({ view }) => view.stage === 'tracking' || view.state === 'parked',
      );
    const counts = [await bench.executions('sendCrypto', sent), await bench.executions('createBridgeDeposit', paid)];
    for (const { workflowId } of [send, transfer]) await bench.client.workflow.getHandle(workflowId).terminate();
    expect(counts).toEqual([1, 1]);
  });
});
