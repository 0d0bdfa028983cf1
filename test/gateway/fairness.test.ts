import { expect, it } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
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

it('the starts of one name are begun 16 at a time, in turn, and those of another name wait for none of them', async () => {
  let begun = 0;
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  const tested = await gatewayUnderTest({
    env: { GATEWAY_TOKENS: ['shop', 'other'].map((name) => `${name}:flows:${secretOf(name)}`).join(',') },
    wrapStore: (store) => {
      const { audit } = store;
      const append: typeof audit.append = async (note) => {
        if (note.kind === 'start' && note.actor === 'shop') {
          begun += 1;
          await held;
        }
        return audit.append(note);
      };
      return { ...store, audit: { ...audit, append } };
    },
  });
  const start = async (name: string) => {
    const input = transferInput(newReference('turn'));
    const { status } = await tested.post('/flows/bridge-transfer', input, {
      authorization: `Bearer ${secretOf(name)}`,
    });
    return status;
  };
  const many = Array.from({ length: 60 }, () => start('shop'));
  await until('the first ones to be begun', () => begun >= 16);
  expect(await start('other')).toBe(201);
  // Those of the first name that wait had time to begin.
  expect(await start('other')).toBe(201);
  expect(begun).toBe(16);
  go();
  expect(new Set(await Promise.all(many))).toEqual(new Set([201]));
  expect(begun).toBe(60);
  await tested.close();
});
