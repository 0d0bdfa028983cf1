import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { pythonWith } from './python-environment.js';
import { runProgram } from '../run-program.js';
import { keyring } from '../../harness/fixed.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

jest.setTimeout(300_000);

const folder = join(packageRoot(), 'examples', 'python');
const python = await pythonWith(join(folder, 'requirements.txt'));
const onlyWithPython = python === undefined ? describe.skip : describe;

onlyWithPython('Python, with a codec of its own,', () => {
  let stack: Stack;
  withStack({}, (opened) => (stack = opened));
  const { id, bytes } = keyring.active;
  const KEY = `${id}:${Buffer.from(bytes).toString('base64')}`;
  const OTHER_KEY = `other:${Buffer.alloc(32, 5).toString('base64')}`;
  const run = (reference: string, keys: string) => {
    const env = {
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      TASK_QUEUE: stack.taskQueue,
      PAYLOAD_KEYS: keys,
    };
    return runProgram(python ?? '', [join(folder, 'start_bridge_transfer.py'), reference], { cwd: folder, env });
  };

  const mustComplete = async (reference: string) => {
    const { code, all } = await run(reference, KEY);
    expect(all).toMatch(/completed.+completed[^\n]+\n$/s);
    expect(code).toBe(0);
  };

  test('starts a transfer by name, and reads back its result and its query', async () => {
    const reference = `python-${randomUUID()}`;
    const flowId = `bridge-transfer/${reference}`;
    const { code, all } = await run(reference, KEY);
    expect(all).toMatch(new RegExp(`^${flowId} runs\n${flowId}: completed\\. .+\n{.+}\n$`));
    expect(code).toBe(0);
    const queried = all.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(queried)).toEqual({ reference, state: 'completed', timeline: expect.any(Number) });
    const query = `operation=createBridgeDeposit&reference=${reference}`;
    expect(await stack.control('GET', `/executions?${query}`)).toMatchObject({ count: 1 });
    const { body } = await stack.get(`/flows/${flowId}`);
    expect(body['timeline']).toHaveLength(JSON.parse(queried).timeline);
  });

  test('finds the flow that it started before', async () => {
    const reference = `python-${randomUUID()}`;
    const first = await run(reference, KEY);
    const second = await run(reference, KEY);
    expect(second).toEqual(first);
    expect(first.code).toBe(0);
  });

  test('leaves nothing in the clear in the history', async () => {
    const reference = `python-${randomUUID()}`;
    await mustComplete(reference);
    const handle = stack.client.workflow.getHandle(`bridge-transfer/${reference}`);
    const { events } = await handle.fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    expect(started.map(({ metadata }) => Buffer.from(metadata?.['encoding'] ?? []).toString())).toEqual([
      'binary/encrypted',
    ]);
    for (const { data } of started) expect(Buffer.from(data ?? []).includes('+27821234567')).toBe(false);
  });

  test('cannot read a flow with another key', async () => {
    const reference = `python-${randomUUID()}`;
    await mustComplete(reference);
    const { code, all } = await run(reference, OTHER_KEY);
    expect(code).not.toBe(0);
    expect(all).toMatch(new RegExp(`KeyError: .*\\b${id}\\b`));
  });

  test('may seal with a new key once the worker has it, and opens with the old one', async () => {
    const reference = `python-${randomUUID()}`;
    const { code, all } = await run(reference, `${KEY},${OTHER_KEY}`);
    expect(all).toContain('completed');
    expect(code).toBe(0);
  });
});
