import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

describe('a terminated flow', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    tested = await gatewayUnderTest();
  });
  afterAll(() => tested.close());

  const started = async () => {
    const reference = newReference();
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    return { reference, flowId, key, handle: tested.client.workflow.getHandle(flowId) };
  };
  const report = (reference: string) =>
    tested.store.inbox.receive({
      id: `${reference}-event`,
      source: 'callback',
      flowId: `bridge-transfer/${reference}`,
      reference,
      status: 'PAYMENT_CONFIRMED',
      proof: 'capability',
      contentHash: reference,
      body: { status: 'PAYMENT_CONFIRMED' },
    });
  const MARKS = ['mark-completed', 'mark-failed', 'mark-refunded'];

  it('whose POST was refused, and which a trusted event reports nevertheless, is not shown as never executed', async () => {
    const { reference, flowId, key, handle } = await started();
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await tested.store.claims.recordRejection(key, 'o', { httpStatus: 422, message: 'insufficient balance' });
    await handle.terminate();
    const shown = async () => (await tested.get(`/flows/${flowId}`)).body;
    expect(await shown()).toMatchObject({ state: 'failed', outcome: { reason: 'not_executed' } });
    await report(reference);
    const { parked } = await shown();
    expect(parked).toMatchObject({ reason: 'terminated', actions: MARKS });
    const order = { action: 'mark-completed', note: 'the provider paid it out' };
    expect(await tested.post(`/flows/${flowId}/resolve`, order)).toMatchObject({ body: { state: 'completed' } });
  });

  it.each(['reserved', 'absent'])(
    'whose claim is %s, and which a trusted event reports, can be marked',
    async (phase) => {
      const { reference, flowId, key, handle } = await started();
      if (phase === 'reserved') await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
      await handle.terminate();
      await report(reference);
      const { body } = await tested.get(`/flows/${flowId}`);
      expect(body.parked).toMatchObject({ reason: 'terminated', actions: MARKS });
      const order = { action: 'mark-completed', note: 'the provider paid it out' };
      expect(await tested.post(`/flows/${flowId}/resolve`, order)).toMatchObject({ body: { state: 'completed' } });
    },
  );
});
