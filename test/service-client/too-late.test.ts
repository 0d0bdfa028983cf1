import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServiceClient } from '../../src/service-client/index.js';
import { bridgeDeposit, bridgeDepositAnswer } from './samples.js';
import { answerJson, serveHttp, serveRaw } from './scripted-server.js';
import { SELF_SIGNED } from './tls-fixture.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function deposit(baseUrl: string, stillValid: () => boolean, ca?: string): Promise<unknown> {
  const client = createServiceClient({
    baseUrl,
    token: () => Promise.resolve('t'),
    timeoutMs: 5_000,
    ...(ca === undefined ? {} : { ca }),
  });
  open.push(client);
  return client.createBridgeDeposit(bridgeDeposit, { stillValid }).catch((error: unknown) => error);
}

it('a money POST whose quote ran out while it connected is not sent, not even a byte of it', async () => {
  let bytes = 0;
  const server = await serveRaw((socket) => socket.on('data', (chunk: Buffer) => (bytes += chunk.length)));
  open.push(server);
  for (let round = 0; round < 20; round += 1) {
    expect(await deposit(server.url, () => false)).toMatchObject({ name: 'NotSentError', reason: 'expired' });
  }
  expect(server.connections()).toBe(20);
  expect(bytes).toBe(0);
});

it('a money POST over TLS whose quote ran out while it connected is not sent, not even a byte of it', async () => {
  let bytes = 0;
  const server = createServer(SELF_SIGNED);
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined).prependListener('data', (chunk: Buffer) => (bytes += chunk.length));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  for (let round = 0; round < 20; round += 1) {
    const result = await deposit(url, () => false, SELF_SIGNED.cert);
    expect(result).toMatchObject({ name: 'NotSentError', reason: 'expired' });
  }
  expect(bytes).toBe(0);
});

it('a money POST ends no later than the flow that sent it gives it up, whatever the timeout of the client is', async () => {
  const server = await serveRaw(() => undefined);
  open.push(server);
  const client = createServiceClient({ baseUrl: server.url, token: () => Promise.resolve('t'), timeoutMs: 3_600_000 });
  open.push(client);
  const ended = client.createBridgeDeposit(bridgeDeposit, { mostMs: 1_000 });
  await expect(ended).rejects.toMatchObject({ name: 'UnknownOutcomeError', reason: 'timeout' });
});

it('a money POST is checked once, when the connection is ready, and sent if its quote is still valid', async () => {
  const server = await serveHttp((response) => answerJson(response, 200, bridgeDepositAnswer));
  open.push(server);
  const asked: number[] = [];
  const result = await deposit(server.url, () => {
    asked.push(server.seen.length);
    return true;
  });
  expect(result).toMatchObject({ kotani_reference_id: 'k-1' });
  expect(asked).toEqual([0]);
});
