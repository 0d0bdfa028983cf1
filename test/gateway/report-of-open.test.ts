import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFlowReader } from '../../src/temporal/flow-handle.js';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

describe('the report of a flow that is open', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker;
  beforeAll(async () => {
    tested = await gatewayUnderTest();
    worker = await startFlowWorker(tested);
  });
  afterAll(async () => {
    await tested.close();
    await worker.stop();
  });

  it('comes from its worker alone: the server is not asked how it closed, which it would answer when it does', async () => {
    const reference = newReference();
    await tested.post('/flows/bridge-transfer', transferInput(reference));
    const asked: string[] = [];
    const { workflowService } = tested.client;
    const watched = new Proxy(workflowService, {
      get: (service, name) => {
        asked.push(String(name));
        return Reflect.get(service, name) as unknown;
      },
    });
    const client = Object.create(tested.client, { workflowService: { value: watched } }) as typeof tested.client;
    const report = await createFlowReader(client, { reportWithinMs: 60_000 }).report(`bridge-transfer/${reference}`);
    expect(report?.view).toMatchObject({ state: 'running', stage: expect.any(String) });
    expect(asked).toEqual([]);
  });
});
