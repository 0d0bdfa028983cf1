import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../harness/until.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { openStack, type Stack } from '../end-to-end/stack.js';

describe('a flow that was terminated in the UI, and is resumed,', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await openStack({ env: { TIME_SCALE: '0.01' }, isReconciled: false });
  });
  afterAll(() => stack.close());

  const show = async (flow: string) => (await stack.get(`/flows/${flow}`)).body;
  const resume = (flow: string) =>
    stack.post(`/flows/${flow}/resolve`, { action: 'resume', note: 'it was terminated by mistake' });
  const deposits = async (reference: string): Promise<number> =>
    (await stack.control('GET', `/executions?operation=createBridgeDeposit&reference=${reference}`)).count;
  const terminated = async (flow: string) => {
    await stack.client.workflow.getHandle(flow).terminate();
    await until('it to be terminated', async () => (await show(flow))['parked']?.reason === 'terminated');
  };
  const started = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const flow = `bridge-transfer/${reference}`;
    expect((await stack.post('/flows/bridge-transfer', transferInput(reference, more))).status).toBe(201);
    return { reference, flow };
  };

  it('sends what was not sent yet, once, and completes; a second order finds it running', async () => {
    const { reference, flow } = await started('unsent', { approval: 'required' });
    await until('it to wait', async () => (await show(flow))['stage'] === 'awaiting-approval');
    await terminated(flow);
    expect(await show(flow)).toMatchObject({ parked: { actions: ['resume'] } });
    expect(await resume(flow)).toMatchObject({ status: 200, body: { state: 'running' } });
    expect((await resume(flow)).status).toBe(409);
    await until('it to wait again', async () => (await show(flow))['stage'] === 'awaiting-approval');
    expect((await stack.post(`/flows/${flow}/approve-quote`, {})).status).toBe(200);
    expect((await stack.get(`/flows/${flow}/wait?timeoutSeconds=300`)).body).toMatchObject({ state: 'completed' });
    expect(await deposits(reference)).toBe(1);
    expect((await resume(flow)).status).toBe(409);
  });

  it('follows what was sent before, and sends nothing again', async () => {
    const reference = newReference('sent');
    const flow = `bridge-transfer/${reference}`;
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    expect((await stack.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    await until('it to be followed', async () => (await show(flow))['stage'] === 'tracking');
    await terminated(flow);
    expect(await show(flow)).toMatchObject({
      parked: { evidence: { resume: 'the service has it: its status is followed' } },
    });
    expect((await resume(flow)).status).toBe(200);
    await until('it to be followed again', async () => (await show(flow))['stage'] === 'tracking');
    expect(await deposits(reference)).toBe(1);
    expect((await show(flow))['timeline']).toContainEqual(expect.objectContaining({ code: 'accepted' }));
    await stack.client.workflow.getHandle(flow).terminate();
  });

  it('is not resumed if it was started as a workflow type that no worker of ours runs', async () => {
    const flow = `bridge-transfer/${newReference('foreign')}`;
    const handle = await stack.client.workflow.start('somethingElse', {
      workflowId: flow,
      taskQueue: 'towline',
      args: [],
    });
    await handle.terminate();
    await until('it to be terminated', async () => (await show(flow))['parked']?.reason === 'terminated');
    expect(await resume(flow)).toMatchObject({ status: 409, body: { data: { code: 'foreign_flow' } } });
  });

  it('is not there to be resumed once Temporal has forgotten it: an admin closes its claims', async () => {
    const { flow } = await started('forgotten', { approval: 'required' });
    await until('it to wait', async () => (await show(flow))['stage'] === 'awaiting-approval');
    await terminated(flow);
    const { runId } = await stack.client.workflow.getHandle(flow).describe();
    await stack.client.workflowService.deleteWorkflowExecution({
      namespace: stack.client.options.namespace,
      workflowExecution: { workflowId: flow, runId },
    });
    await until('it to be forgotten', async () => (await stack.get(`/flows/${flow}`)).status === 404);
    expect((await resume(flow)).status).toBe(404);
  });
});
