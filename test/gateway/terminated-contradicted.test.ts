import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

describe('the claims of a terminated flow, against what trusted events prove', () => {
  let tested: GatewayUnderTest;
  /** Happens once an order was admitted, and before it is recorded with the claims. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  let laterMs = 0;
  const nowMs = () => Date.now() + laterMs;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      gateway: { nowMs },
      storeNowMs: nowMs,
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
    // It has its time to arrive.
    laterMs += 600_000;
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
      close: (as: string) => tested.post(`/flows/${flowId}/close-claims`, { as, note: 'asked both sides' }),
      orders: () => tested.store.claims.orders(key),
    };
  };

  it.each(['completed', 'failed', 'refunded'])(
    'can be closed as %s, if the proofs exclude one another',
    async (state) => {
      const { report, shown, close } = await terminated();
      await report('FAILED');
      await report('COMPLETED');
      expect((await shown()).parked).toMatchObject({ evidence: { proven: ['completed', 'failed'] } });
      expect((await close(state)).status).toBe(200);
      expect(await shown()).toMatchObject({ state, parked: null });
    },
  );

  it.each([
    ['COMPLETED', 'failed'],
    ['COMPLETED', 'refunded'],
    ['REFUNDED', 'completed'],
    ['REFUNDED', 'failed'],
  ])('of which one proof is %s are not closed as %s', async (status, as) => {
    const { report, shown, close, orders } = await terminated();
    await report(status);
    expect(await close(as)).toMatchObject({ status: 409, body: { message: expect.stringContaining(status) } });
    expect(await orders()).toEqual([]);
    expect((await shown()).state).toBe('parked');
  });

  it.each([
    ['a failure', 'completed', [], 'FAILED'],
    ['a completion', 'failed', ['FAILED'], 'COMPLETED'],
    ['a refund', 'completed', ['COMPLETED'], 'REFUNDED'],
  ])(
    'are not closed against %s that comes at that moment, but as %s once that is known',
    async (_, as, before, status) => {
      const { report, close, orders } = await terminated();
      for (const word of before) await report(word);
      meanwhile = () => report(status);
      expect(await close(as)).toMatchObject({
        status: 503,
        body: { data: { code: 'event_came' } },
      });
      expect(await orders()).toEqual([]);
      expect(await close(as)).toMatchObject({ status: 200 });
    },
  );
});
