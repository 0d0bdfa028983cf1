import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { openWorkerProbe } from '../../src/cli/worker-probe.js';
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
