import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { packageRoot } from '../../src/package-root.js';
import { until } from '../harness/until.js';
import { ensureBuilt } from './ensure-built.js';
import { secretBytes } from '../harness/secrets.js';

/** `test/deployment/compose.test.ts` shows that the containers run this program, and how. */
describe('the sandbox of another container', () => {
  it('is spoken to as if it were here, but only while it is the service', async () => {
    await ensureBuilt();
    const port = await anyFreePort();
    // All of 127.0.0.0/8 is this machine: another address of it represents another container.
    const isNear = async (env: Record<string, string>) => {
      const home = await mkdtemp(join(tmpdir(), 'towline-nearby-'));
      const child = spawn(process.execPath, ['tools/nearby.mjs', `${port}:127.0.0.2:${port}`, 'sandbox'], {
        cwd: packageRoot(),
        env: { TOWLINE_HOME: home, SANDBOX_HOST: '127.0.0.2', SANDBOX_PORT: String(port), ...env },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      const answers = (host: string) =>
        fetch(`http://${host}:${port}/_sandbox`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until('the sandbox to run', () => answers('127.0.0.2'));
      const near = await answers('127.0.0.1');
      child.kill();
      await ended;
      await rm(home, { recursive: true });
      return near;
    };
    expect(await isNear({})).toBe(true);
    const service = {
      SERVICE_BASE_URL: 'https://service.example',
      SERVICE_TOKEN: 'a-token',
      PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
    };
    expect(await isNear({ ...service, PUBLIC_URL: 'https://t.example' })).toBe(false);
  });
});
