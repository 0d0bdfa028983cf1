import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { type Receiver, startReceiver } from '../callbacks/receiver.js';
import { type Stack, withStack } from '../end-to-end/stack.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';

describe('a flow that something contradicts after its end', () => {
  let stack: Stack;
  const env = { GATEWAY_TOKENS: 'dev:admin:dev-token,seer:viewer:seer-token' };
  const secrets = [`whsec_${Buffer.alloc(32, 5).toString('base64')}`];
  const activities = { callbacks: createCallbackSender({ secrets: () => secrets, allowLoopback: true }) };
  withStack({ drivenAlone: true, isReconciled: false, env, activities }, (opened) => (stack = opened));
  const SEER = { authorization: 'Bearer seer-token' };

  let caller: Receiver;
  beforeAll(async () => void (caller = await startReceiver()));
  afterAll(() => caller.close());
  const told = (holds: (data: { readonly state: string; readonly contradicted?: boolean }) => boolean) =>
    caller.until((all) => all.some(({ body }) => holds(body.data)));

  it('is flagged on its page, in lists and to its caller, until a person acknowledges it, who is recorded', async () => {
    const reference = newReference('contradicted');
    const path = `/flows/bridge-transfer/${reference}`;
    const flowId = `bridge-transfer/${reference}`;
    const callbackUrl = `${caller.url}/hook`;
    await stack.control('POST', '/scenarios', { reference, ending: 'completed' });
    await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.002, callbackUrl }));
    expect((await stack.get(`${path}/wait?timeoutSeconds=300`)).body).toMatchObject({
      state: 'completed',
      contradicted: null,
    });
    expect((await stack.post(`${path}/acknowledge`, { note: 'nothing to see' })).status).toBe(409);
    await told(({ state }) => state === 'completed');

    await stack.post(stack.callbackPath(reference), { provider_reference_id: reference, status: 'REFUNDED' });
    const evidence = [{ kind: 'late_event_contradicts', ended: 'completed', status: 'REFUNDED' }];
    await until('the flag', async () => (await stack.get(path)).body['contradicted'] !== null);
    expect((await stack.get(path)).body).toMatchObject({
      state: 'completed',
      contradicted: { evidence, acknowledged: null },
    });
    await told(({ contradicted }) => contradicted === true);
    const listed = await stack.get(`/flows?reference=${reference}`);
    expect(listed.body).toMatchObject({ flows: [{ flowId, contradicted: true }] });
    expect((await stack.get('/contradictions')).body).toMatchObject({
      flows: [{ flowId, contradicted: { evidence } }],
    });

    expect((await stack.post(`${path}/acknowledge`, { note: 'seen' }, SEER)).status).toBe(403);
    expect((await stack.post(`${path}/acknowledge`, {})).status).toBe(400);
    expect(await stack.post(`${path}/acknowledge`, { note: 'credited by hand' })).toMatchObject({
      status: 200,
      body: { contradicted: { evidence, acknowledged: { by: 'dev' } } },
    });
    expect((await stack.post(`${path}/acknowledge`, { note: 'again' })).status).toBe(409);
    expect((await stack.get('/contradictions')).body).toEqual({ flows: [], next: null });
    expect((await stack.get('/contradictions?state=all')).body).toMatchObject({ flows: [{ flowId }] });
    expect((await stack.get(`/audit?flow=${encodeURIComponent(flowId)}`)).body).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({
          kind: 'order',
          action: 'acknowledge',
          actor: 'dev',
          details: expect.objectContaining({ note: 'credited by hand' }),
        }),
      ]),
    });
  });
});
