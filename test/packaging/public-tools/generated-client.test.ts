import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { mustRun } from '../run-program.js';
import { publicTools } from './python.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

const tools = await publicTools();
const onlyWithTools = tools === undefined ? describe.skip : describe;

onlyWithTools('a client that a public generator makes of /openapi.json', () => {
  let stack: Stack;
  withStack({}, (opened) => (stack = opened));

  it('starts a transfer, waits for it and lists its events, with nothing left out of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-client-'));
    const { python = '', generator = '', path = '' } = tools ?? {};
    const output = ['--output-path', join(folder, 'towline_gateway_client'), '--meta', 'none'];
    const generate = ['generate', '--url', `${stack.url}/openapi.json`, '--fail-on-warning', ...output];
    await mustRun(generator, generate, { cwd: folder, env: { PATH: path } });

    const reference = `generated-${randomUUID()}`;
    const example = join(packageRoot(), 'examples', 'bridge-transfer.json');
    const program = join(packageRoot(), 'test', 'packaging', 'public-tools', 'use_generated_client.py');
    const args = [program, stack.url, 'dev-token', example, reference];
    const said = await mustRun(python, args, { cwd: folder, env: { PYTHONPATH: folder } });
    await rm(folder, { recursive: true, force: true });

    const flowId = `bridge-transfer/${reference}`;
    const { body } = await stack.get(`/flows/${flowId}`);
    expect(JSON.parse(said)).toEqual({
      started: 201,
      again: 200,
      flowId,
      stages: (body['timeline'] as { stage: string }[]).map(({ stage }) => stage),
      refused: expect.stringContaining('other content'),
      // Callbacks and settlements report the same, in any order.
      events: expect.arrayContaining(['applied']),
    });
    const query = `operation=createBridgeDeposit&reference=${reference}`;
    expect(await stack.control('GET', `/executions?${query}`)).toMatchObject({ count: 1 });
  }, 120_000);
});
