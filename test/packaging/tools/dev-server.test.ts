import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import {
  type DevServer,
  type DevServerOptions,
  startDevServer,
  devServerArguments,
} from '../../../src/dev-server/dev-server.js';
import { isAlive } from '../../../src/dev-server/file-lock.js';
import { packageRoot } from '../../../src/package-root.js';
import { scratchFolder, writeScript } from '../../tools/scratch.js';
import { SEARCH_ATTRIBUTES } from '../../../src/protocol/vocabulary.js';

const scratch = await scratchFolder();
const executable = process.env.TEST_TEMPORAL_CLI as string;
const lines: string[] = [];
const started: DevServer[] = [];

afterEach(async () => {
  lines.length = 0;
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(options: Partial<DevServerOptions> = {}): Promise<DevServer> {
  const server = await startDevServer({
    executable,
    home: scratch,
    port: 0,
    uiPort: false,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: (line) => lines.push(line),
    ...options,
  });
  started.push(server);
  return server;
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(20);
}

async function searchAttributesOf(server: DevServer): Promise<string[]> {
  const connection = await Connection.connect({ address: server.address });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  await connection.close();
  return Object.keys(customAttributes);
}

describe('the Temporal dev server', () => {
  test('has its search attributes when its start resolves', async () => {
    expect(await searchAttributesOf(await start())).toContain('TowlineState');
  });

  test('leaves no process behind when it is stopped', async () => {
    const server = await start();
    expect(isAlive(server.pid)).toBe(true);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  test('ends when the process that started it is killed', async () => {
    const parent = spawn(
      process.execPath,
      [
        '--import',
        './tools/typescript.mjs',
        '--input-type=module',
        '--eval',
        `
      const { startDevServer } = await import('./src/dev-server/dev-server.ts');
      const server = await startDevServer({ executable: ${JSON.stringify(executable)}, home: ${JSON.stringify(scratch)},
        port: 0, uiPort: false, searchAttributes: {}, log() {} });
      console.log(server.pid);
      setInterval(() => {}, 1000);
    `,
      ],
      { cwd: packageRoot(), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await untilGone(pid);
  });

  test('takes the next port when the usual one is taken, and prints it', async () => {
    const blocker = createServer().listen(7233, '127.0.0.1');
    // If a developer's own server has the port already, it is also taken.
    await Promise.race([once(blocker, 'listening'), once(blocker, 'error')]).catch(() => {});
    const server = await startDevServer({
      executable,
      home: scratch,
      uiPort: false,
      searchAttributes: {},
      log: (line) => lines.push(line),
    });
    started.push(server);
    const port = Number(server.address.split(':')[1]);
    expect(port).toBeGreaterThan(7233);
    expect(lines.filter((line) => line.includes('7233') && line.includes(`${port}`))).toHaveLength(1);
    blocker.close();
  });

  test('refuses a wanted port that is taken', async () => {
    const port = Number((await start()).address.split(':')[1]);
    await expect(start({ port })).rejects.toMatchObject({ code: 'port-taken' });
  });

  test('refuses a database that another server uses', async () => {
    const dbFile = join(scratch, 'shared.db');
    const first = await start({ dbFile });
    await expect(start({ dbFile })).rejects.toMatchObject({
      code: 'database-in-use',
      message: expect.stringContaining(`${first.pid}`),
    });
  });

  test('keeps its port over a restart, and takes another one if that is taken meanwhile', async () => {
    const dbFile = join(scratch, 'ports.db');
    const first = await start({ dbFile });
    await first.stop();
    const withoutPort = { executable, home: scratch, uiPort: false as const, searchAttributes: {} };
    const again = await startDevServer({ ...withoutPort, dbFile, log: (line) => lines.push(line) });
    started.push(again);
    expect(again.address).toBe(first.address);
    await again.stop();
    const blocker = createServer().listen(Number(first.address.split(':')[1]), '127.0.0.1');
    await once(blocker, 'listening');
    const elsewhere = await startDevServer({ ...withoutPort, dbFile, log: (line) => lines.push(line) });
    started.push(elsewhere);
    blocker.close();
    expect(elsewhere.address).not.toBe(first.address);
    expect(lines).toHaveLength(1);
  });

  test('keeps its database over a restart, and registers search attributes that are new', async () => {
    const dbFile = join(scratch, 'kept.db');
    await (await start({ dbFile, searchAttributes: { First: 'Keyword' } })).stop();
    const again = await start({ dbFile, searchAttributes: { First: 'Keyword', Second: 'Int' } });
    expect((await searchAttributesOf(again)).sort()).toEqual(['First', 'Second']);
  });

  test('shows the last lines of its log when it dies at its start', async () => {
    const broken = await writeScript(join(scratch, 'broken'), 'echo "no such table: executions" >&2; exit 3');
    const error = await start({ executable: broken }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'not-ready', message: expect.stringContaining('(3)') });
    // What the server itself printed.
    expect((error as Error).message.split('\n').at(-1)).toBe('no such table: executions');
  });
});

test('the server gets the URL at which the UI decodes payloads', () => {
  const args = devServerArguments({
    port: 7233,
    uiPort: 8233,
    searchAttributes: {},
    codecEndpoint: 'http://127.0.0.1:8400/codec',
  });
  expect(args[args.indexOf('--ui-codec-endpoint') + 1]).toBe('http://127.0.0.1:8400/codec');
});
