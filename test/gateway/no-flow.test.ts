import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput } from '../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';

describe('an event of a flow that never comes', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker;
  let endpoint: string;
  beforeAll(async () => {
    tested = await gatewayUnderTest();
    worker = await startFlowWorker(tested);
    endpoint = new URL(tested.gateway.inbound.webhook).pathname;
  });
  afterAll(async () => {
    await tested.close();
    await worker.stop();
  });

  const rowOf = async (reference: string) =>
    (await tested.store.inbox.list({ flowId: `bridge-transfer/${reference}` }))[0];
  const inState = (reference: string, state: string) =>
    until(`${reference} to be ${state}`, async () => {
      const row = await rowOf(reference);
      return row?.state === state && row;
    });
  const webhook = (reference: string) => ({
    event: 'transaction.status.updated',
    data: { provider_reference_id: reference, status: 'PAYMENT_SENT' },
  });

  it('is looked up once and listed, proven or not, and nothing is left that would be tried again', async () => {
    const [proven, forged] = [newReference(), newReference()];
    await tested.post(endpoint, webhook(proven));
    await tested.post(SETTLEMENT_PATH, settlement(forged, 'COMPLETED'));
    for (const reference of [proven, forged]) await inState(reference, 'unmatched');
    expect((await tested.store.inbox.counts()).byState.waiting).toBe(0);
  });

  it('still reaches its flow if that is started later', async () => {
    const [proven, forged] = [newReference(), newReference()];
    await tested.post(endpoint, webhook(proven));
    await tested.post(SETTLEMENT_PATH, settlement(forged, 'COMPLETED'));
    for (const reference of [proven, forged]) {
      await inState(reference, 'unmatched');
      expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    }
    await inState(proven, 'applied');
    await inState(forged, 'unverified');
  });

  it('and that names none is delivered to the one that a person names', async () => {
    const reference = newReference();
    await tested.post(endpoint, { referenceId: reference, status: 'PAYMENT_SENT' });
    // The claims are checked after it was answered.
    const row = await until('it to match none', async () =>
      (await tested.store.inbox.list({ state: 'unmatched' })).find((one) => one.flowId === null),
    );
    const replay = (order: object) => tested.post(`/events/${row.id}/replay`, order);
    expect(await replay({})).toMatchObject({ status: 409, body: { data: { code: 'event_of_no_flow' } } });
    expect((await replay({ flowId: 'no such kind/x' })).status).toBe(400);
    expect(await replay({ flowId: 'bank-withdrawal/another-one' })).toMatchObject({
      status: 409,
      body: { data: { code: 'event_of_other_flow' } },
    });
    const flowId = `bridge-transfer/${reference}`;
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    expect((await replay({ flowId, dryRun: true })).body).toMatchObject({ asEvent: { trusted: true } });
    expect(await rowOf(reference)).toBeUndefined();
    expect((await replay({ flowId })).body).toMatchObject({ event: { flowId } });
    await inState(reference, 'applied');
    expect((await replay({ flowId: 'bridge-transfer/another-one' })).status).toBe(409);
  });
});
