import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

describe('a terminated flow, by an order against what trusted events prove', () => {
  let tested: GatewayUnderTest;
  /** Happens once an order was admitted, and before it is recorded with the claims. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      // Everything that was sent has had its time to arrive.
      gateway: { nowMs: () => Date.now() + 600_000 },
      wrapStore: (store) => ({
        ...store,
        audit: {
          ...store.audit,
          async append(note) {
            const due = note.kind === 'order' ? meanwhile : undefined;
            if (due !== undefined) meanwhile = undefined;
            await due?.();
            return store.audit.append(note);
          },
        },
      }),
    });
  });
  afterAll(() => tested.close());

  const terminated = async () => {
    const reference = newReference();
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await tested.client.workflow.getHandle(flowId).terminate();
    const report = (status: string) =>
      tested.store.inbox.receive({
        id: `${reference}-${status}`,
        source: 'callback',
        flowId,
        reference,
        status,
        proof: 'capability',
        contentHash: `${reference}-${status}`,
        body: { status },
      });
    return {
      report,
      shown: async () => (await tested.get(`/flows/${flowId}`)).body,
      resolve: (action: string) => tested.post(`/flows/${flowId}/resolve`, { action, note: 'asked both sides' }),
      orders: () => tested.store.claims.orders(key),
    };
  };

  it.each([
    ['mark-completed', 'completed'],
    ['mark-failed', 'failed'],
    ['mark-refunded', 'refunded'],
  ])('shows proofs that exclude one another, and takes %s: the person decides between them', async (action, state) => {
    const { report, shown, resolve } = await terminated();
    await report('FAILED');
    await report('COMPLETED');
    expect((await shown()).parked).toMatchObject({ evidence: { proven: ['completed', 'failed'] } });
    expect((await resolve(action)).body).toMatchObject({ state });
  });

  it.each([
    ['COMPLETED', 'mark-failed'],
    ['COMPLETED', 'mark-refunded'],
    ['REFUNDED', 'mark-completed'],
    ['REFUNDED', 'mark-failed'],
  ])('whose one proof is %s refuses %s', async (status, action) => {
    const { report, shown, resolve, orders } = await terminated();
    await report(status);
    expect(await resolve(action)).toMatchObject({ status: 409, body: { message: expect.stringContaining(status) } });
    expect(await orders()).toEqual([]);
    expect((await shown()).state).toBe('parked');
  });

  it.each([
    ['a failure', 'mark-completed', [], 'FAILED'],
    ['a completion', 'mark-failed', ['FAILED'], 'COMPLETED'],
    ['a refund', 'mark-completed', ['COMPLETED'], 'REFUNDED'],
  ])(
    'takes no order against %s that comes at that moment, and %s once that is shown',
    async (_, action, before, status) => {
      const { report, resolve, orders } = await terminated();
      for (const word of before) await report(word);
      meanwhile = () => report(status);
      expect(await resolve(action)).toMatchObject({
        status: 503,
        body: { data: { code: 'event_came' } },
      });
      expect(await orders()).toEqual([]);
      expect(await resolve(action)).toMatchObject({ status: 200 });
    },
  );
});
