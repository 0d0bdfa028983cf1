import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { openWorkerProbe } from '../../src/cli/probes.js';
import { until } from '../harness/until.js';

it('a connection to the probes of a worker that asks nothing is cut, and others are answered meanwhile', async () => {
  const probe = await openWorkerProbe({
    host: '127.0.0.1',
    port: 0,
    store: () => Promise.resolve(),
    isPolling: () => true,
    client: {} as Client,
  });
  const { hostname, port } = new URL(probe.url);
  const silent = connect({ host: hostname, port: Number(port) });
  silent.write('GET /healthz HTTP/1.1\r\n');
  silent.resume();
  let isCut = false;
  silent.on('close', () => (isCut = true)).on('error', () => undefined);
  expect((await fetch(`${probe.url}/healthz`)).status).toBe(200);
  await until('it to be cut', () => isCut);
  await probe.close();
});

it('one address that takes all connections of a worker’s probes leaves those of others answered', async () => {
  let isPolling = true;
  const probe = await openWorkerProbe({
    host: '127.0.0.1',
    port: 0,
    store: () => Promise.resolve(),
    isPolling: () => isPolling,
    client: { options: {}, connection: { withDeadline: () => Promise.resolve() } } as unknown as Client,
  });
  const { hostname, port } = new URL(probe.url);
  const greedy = Array.from({ length: 300 }, () =>
    connect({ host: hostname, port: Number(port), localAddress: '127.0.0.2' }).on('error', () => undefined),
  );
  let cut = 0;
  for (const socket of greedy) socket.resume().on('close', () => (cut += 1));
  await Promise.all(greedy.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  const status = async (path: string) => (await fetch(probe.url + path)).status;
  expect([await status('/healthz'), await status('/readyz'), await status('/readyz/intake')]).toEqual([200, 200, 404]);
  await until('those too many to be cut', () => cut >= 300 - 32);
  isPolling = false;
  expect(await status('/readyz')).toBe(503);
  isPolling = true;
  expect(await status('/readyz')).toBe(200);
  // Its process is asked to stop.
  probe.drain();
  expect([await status('/readyz'), await status('/healthz')]).toEqual([503, 200]);
  for (const socket of greedy) socket.destroy();
  await probe.close();
});
