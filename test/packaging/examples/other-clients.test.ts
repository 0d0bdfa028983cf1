import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { mustRun, runProgram } from '../run-program.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

jest.setTimeout(120_000);

const root = packageRoot();
const example = (name: string) => join(root, 'examples', name);

let stack: Stack;
withStack({}, (opened) => (stack = opened));

async function expectOneDeposit(reference: string): Promise<void> {
  const query = `operation=createBridgeDeposit&reference=${reference}`;
  expect(await stack.control('GET', `/executions?${query}`)).toMatchObject({ count: 1 });
}

test('start-by-http.sh: curl starts a transfer and waits for its end', async () => {
  const reference = `example-${randomUUID()}`;
  const env = { GATEWAY_URL: stack.url, TOWLINE_TOKEN: 'dev-token' };
  const out = await mustRun('bash', [example('start-by-http.sh'), reference], { cwd: root, env });
  const [started = '', ended = ''] = out.trim().split('\n');
  expect(JSON.parse(started)).toMatchObject({ flowId: `bridge-transfer/${reference}`, state: 'running' });
  expect(JSON.parse(ended)).toMatchObject({ flowId: `bridge-transfer/${reference}`, state: 'completed' });
  await expectOneDeposit(reference);
});

test('start-by-http.sh: fails, and shows the sentence of the gateway, if that refuses', async () => {
  const env = { GATEWAY_URL: stack.url, TOWLINE_TOKEN: 'another-token' };
  const { code, all } = await runProgram('bash', [example('start-by-http.sh')], { cwd: root, env });
  expect(code).not.toBe(0);
  const headers = { authorization: 'Bearer another-token' };
  const { message } = (await (await fetch(`${stack.url}/flows`, { headers })).json()) as { message: string };
  expect(all).toContain(message);
});

test('start-by-temporal-client.mjs: a Temporal client without keys starts a transfer and reads its result', async () => {
  const reference = `example-${randomUUID()}`;
  const flowId = `bridge-transfer/${reference}`;
  const env = {
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    GATEWAY_URL: stack.url,
    TASK_QUEUE: stack.taskQueue,
  };
  const out = await mustRun(process.execPath, [example('start-by-temporal-client.mjs'), reference], { cwd: root, env });
  expect(out).toMatch(new RegExp(`^${flowId} runs\n${flowId}: completed\\. .+\n$`));
  await expectOneDeposit(reference);
});
