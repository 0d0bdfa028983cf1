import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { openGatewayProbe, openWorkerProbe } from '../../src/cli/probes.js';
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

it('one address that takes all connections it can get leaves the probes answered, of a gateway as of a worker', async () => {
  let isStoreThere = true;
  const store = () => (isStoreThere ? Promise.resolve() : Promise.reject(new Error('away')));
  const probe = await openGatewayProbe({ host: '127.0.0.1', port: 0, store });
  const { hostname, port } = new URL(probe.url);
  const greedy = Array.from({ length: 300 }, () =>
    connect({ host: hostname, port: Number(port), localAddress: '127.0.0.2' }).on('error', () => undefined),
  );
  let cut = 0;
  for (const socket of greedy) socket.resume().on('close', () => (cut += 1));
  await Promise.all(greedy.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  expect((await fetch(`${probe.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${probe.url}/readyz/intake`)).status).toBe(200);
  await until('those too many to be cut', () => cut >= 300 - 32);
  isStoreThere = false;
  await until('it to be no longer ready', async () => (await fetch(`${probe.url}/readyz/intake`)).status === 503);
  expect((await fetch(`${probe.url}/readyz`)).status).toBe(404);
  isStoreThere = true;
  await until('it to be ready again', async () => (await fetch(`${probe.url}/readyz/intake`)).status === 200);
  // It is told to stop.
  probe.drain();
  expect((await fetch(`${probe.url}/readyz/intake`)).status).toBe(503);
  expect((await fetch(`${probe.url}/healthz`)).status).toBe(200);
  for (const socket of greedy) socket.destroy();
  await probe.close();
});
