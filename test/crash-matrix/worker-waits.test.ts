import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, expect, jest, test } from '@jest/globals';
import { closedPort, scratchFolder, TOWLINE } from '../cli/run.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { openWorkerRig } from './worker-process.js';

jest.setTimeout(120_000);
const scratch = await scratchFolder();
const rig = await openWorkerRig(scratch, newReference('waits'), { stepMs: 20 });
afterAll(() => rig.close());

async function startWaitingWorker() {
  const [temporal, probe] = [await closedPort(), await closedPort()];
  const own = { TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`, WORKER_PROBE_PORT: String(probe) };
  const child = spawn(process.execPath, [TOWLINE, 'worker'], { env: { ...rig.env, ...own }, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const status = (path: string) =>
    fetch(`http://127.0.0.1:${probe}${path}`).then(
      (answer) => answer.status,
      () => undefined,
    );
  await until('the worker to be alive', async () => (await status('/healthz')) === 200, 60_000);
  return { child, ended, status, temporal };
}

test('a worker that starts while Temporal is away is alive and not ready, and is ready when Temporal is there', async () => {
  const { child, ended, status, temporal } = await startWaitingWorker();
  expect(await status('/readyz')).toBe(503);
  const [host = '', port] = (process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':');
  const sockets = new Set<Socket>();
  const way = createServer((socket) => {
    const onward = connect(Number(port), host);
    for (const one of [socket, onward]) sockets.add(one.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  });
  await once(way.listen(temporal, '127.0.0.1'), 'listening');
  await until('the worker to be ready', async () => (await status('/readyz')) === 200, 60_000);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  for (const socket of sockets) socket.destroy();
  way.close();
});

test('a worker that waits for Temporal ends with 0 when it is asked to', async () => {
  const { child, ended } = await startWaitingWorker();
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
