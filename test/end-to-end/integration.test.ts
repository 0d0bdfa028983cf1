import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { runIntegration } from '../gateway/proxy/integration.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { type Stack, withStack } from './stack.js';

describe('a backend that integrates the service', () => {
  let stack: Stack;
  withStack({ env: { TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => (stack = opened));

  it('gets the same answers from the gateway, with nothing changed but the base URL', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-direct-'));
    const direct = await startSandbox({ dbPath: join(folder, 'sandbox.db'), token: SERVICE_TOKEN, stepMs: 20 });
    const expected = await runIntegration(direct.url, SERVICE_TOKEN, 'direct');
    await direct.close();
    await rm(folder, { recursive: true, force: true });
    const found = await runIntegration(stack.url, SERVICE_TOKEN, 'gateway');
    expect(found).toEqual(expected);
    expect(expected).toHaveLength(20);
  });
});
