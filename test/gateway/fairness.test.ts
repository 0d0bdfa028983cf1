import { expect, it } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { PATHS, sample } from './proxy/caller.js';
import { accessOf } from '../harness/service.js';
import { createServiceClient } from '../../src/service-client/index.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';

const secretOf = (name: string) => `secret-of-${name}-0123456789`;

it('the flows of one name have one fairness key in Temporal, whichever way they came, those of another name another one, and none shows a name', async () => {
  const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: () => Promise.resolve('unused') });
  const tested = await gatewayUnderTest({
    env: {
      GATEWAY_TOKENS: ['shop', 'other'].map((name) => `${name}:flows:${secretOf(name)}`).join(','),
      PROXY_TIMEOUT: '0.2',
    },
    gateway: { service: accessOf(client, 'unused') },
  });
  const started: string[] = [];
  const keyOf = async (flowId: string) => {
    started.push(flowId);
    const { raw } = await tested.client.workflow.getHandle(flowId).describe();
    return raw.workflowExecutionInfo?.priority?.fairnessKey ?? '';
  };
  const by = (name: string) => ({ authorization: `Bearer ${secretOf(name)}` });
  const start = async (name: string) => {
    const reference = newReference('fair');
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference), by(name))).status).toBe(201);
    return keyOf(`bridge-transfer/${reference}`);
  };
  const send = async (name: string) => {
    const reference = newReference('fair');
    expect((await tested.post(PATHS.send, sample('sendCrypto', reference).body, by(name))).status).toBe(202);
    return keyOf(`crypto-send/${reference}`);
  };
  const [first, second, sent, another] = [
    await start('shop'),
    await start('shop'),
    await send('shop'),
    await start('other'),
  ];
  for (const flowId of started) await tested.client.workflow.getHandle(flowId).terminate();
  await tested.close();
  expect([first, second, sent]).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
  expect(new Set([first, second, sent]).size).toBe(1);
  expect(another).not.toBe(first);
});
