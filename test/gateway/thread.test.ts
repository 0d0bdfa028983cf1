import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput } from '../harness/inputs.js';

describe('a transfer through the gateway', () => {
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

  it('is started, hears its callback, ends, and settles the inbox row', async () => {
    const reference = newReference();
    const started = await tested.post('/flows/bridge-transfer', transferInput(reference));
    expect(started.status).toBe(201);
    expect(started.body).toMatchObject({ kind: 'bridge-transfer', reference, state: 'running' });

    const stored = await tested.post(tested.callbackPath(reference), { referenceId: reference, status: 'COMPLETED' });
    expect(stored).toEqual({ status: 200, body: { success: true, message: 'Event received', data: {} } });

    const ended = await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=20`);
    expect(ended.body).toMatchObject({ state: 'completed' });
    await until('the row to be applied', async () => {
      const { body } = await tested.get(`/flows/bridge-transfer/${reference}/events`);
      return body['events'][0]?.state === 'applied';
    });
  });

  it('shows what its settlement path answers: the envelope with empty data', async () => {
    const path = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
    const answer = await tested.post(path, settlement(newReference(), 'COMPLETED'));
    expect(answer).toEqual({ status: 200, body: { success: true, message: 'Event received', data: {} } });
  });
});
