import { describe, expect, it } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { until } from '../harness/until.js';
import { startFlowWorker } from './setup/flow-worker.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';

const GATEWAY_TOKENS = 'shop:flows:secret-of-shop';
const SHOP = { authorization: 'Bearer secret-of-shop' };

describe('the flow operations of a gateway without Temporal or workers', () => {
  it('say that Temporal is unavailable, and when to try again', async () => {
    const alone = await gatewayUnderTest({ env: { GATEWAY_TOKENS }, temporalAddress: '127.0.0.1:1' });
    const answer = await alone.post('/flows/bridge-transfer', transferInput(newReference()), SHOP);
    await alone.close();
    expect(answer).toMatchObject({ status: 503, body: { success: false } });
  });

  it('release callers that wait when the gateway closes', async () => {
    const closing = await gatewayUnderTest({ env: { GATEWAY_TOKENS } });
    const reference = newReference();
    await closing.post('/flows/bridge-transfer', transferInput(reference), SHOP);
    // Longer than this test may take.
    const waiting = fetch(`${closing.url}/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`, {
      headers: SHOP,
    });
    // Two requests on one connection later, the first has long been received.
    await closing.get('/healthz');
    await closing.get('/readyz');
    await closing.close();
    expect((await waiting).status).toBe(200);
  });

  it.each(['completed', 'failed'])(
    'show the outcome of a flow that ended (%s) where no worker answers',
    async (state) => {
      const lonely = await gatewayUnderTest({ env: { GATEWAY_TOKENS } });
      const passing = await startFlowWorker(lonely);
      const reference = newReference();
      const flowId = `bridge-transfer/${reference}`;
      if (state === 'failed') await passing.control('POST', '/scenarios', { reference, ending: 'insufficient-funds' });
      // Early: the flow takes it once its deposit is accepted.
      else await lonely.post(lonely.callbackPath(reference), { status: 'COMPLETED' });
      await lonely.post('/flows/bridge-transfer', transferInput(reference), SHOP);
      await lonely.client.workflow
        .getHandle(flowId)
        .result()
        .catch(() => undefined);
      await passing.stop();
      const shown = await fetch(`${lonely.url}/flows/${flowId}`, { headers: SHOP });
      expect(await shown.json()).toMatchObject({ state, stage: 'done', outcome: { state } });
      await until('its event to be settled', async () => {
        const rows = await lonely.store.inbox.list({ flowId });
        return rows.every((row) => row.state === 'applied') && rows.length === (state === 'completed' ? 1 : 0);
      });
      await lonely.close();
    },
  );

  it('show what the server knows if no worker answers', async () => {
    const lonely = await gatewayUnderTest({ env: { GATEWAY_TOKENS } });
    const reference = newReference();
    await lonely.post('/flows/bridge-transfer', transferInput(reference), SHOP);
    const shown = await fetch(`${lonely.url}/flows/bridge-transfer/${reference}`, { headers: SHOP });
    expect(await shown.json()).toMatchObject({
      state: 'running',
      reference,
      stage: expect.stringMatching(/no worker/),
    });
    await lonely.client.workflow.getHandle(`bridge-transfer/${reference}`).terminate();
    await lonely.close();
  });
});
