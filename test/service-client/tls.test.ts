import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createServiceClient, type ServiceClientOptions } from '../../src/service-client/index.js';
import { bridgeDeposit, bridgeDepositAnswer } from './samples.js';
import { serveHttp, serveRaw } from './scripted-server.js';
import { SELF_SIGNED } from './tls-fixture.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function deposit(baseUrl: string, options: Partial<ServiceClientOptions> = {}): Promise<unknown> {
  const client = createServiceClient({ baseUrl, token: () => Promise.resolve('t'), timeoutMs: 5_000, ...options });
  open.push(client);
  return client.createBridgeDeposit(bridgeDeposit).catch((error: unknown) => error);
}

async function serveTls(onRequest: (answer: (body: string) => void, socket: TLSSocket) => void) {
  const seen = { bytes: 0, requests: 0 };
  const server = createServer(SELF_SIGNED, (request, response) => {
    seen.requests += 1;
    onRequest((body) => void response.end(body), request.socket as TLSSocket);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const count = (chunk: Buffer) => (seen.bytes += chunk.length);
    socket.on('error', () => undefined).prependListener('data', count);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  return { port: (server.address() as AddressInfo).port, seen };
}

describe('over TLS, a money POST', () => {
  it('is not sent to a server with an untrusted certificate, not even a byte of it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { port, seen } = await serveTls((answer) => answer(JSON.stringify(bridgeDepositAnswer)));
      const result = await deposit(`https://localhost:${port}`);
      expect(result).toMatchObject({ name: 'NotSentError', reason: 'tls' });
      expect(seen).toEqual({ bytes: 0, requests: 0 });
    }
  });

  it('is not sent to a server whose certificate is for another name', async () => {
    const { port, seen } = await serveTls((answer) => answer(JSON.stringify(bridgeDepositAnswer)));
    const result = await deposit(`https://127.0.0.1:${port}`, { ca: SELF_SIGNED.cert });
    expect(result).toMatchObject({ name: 'NotSentError', reason: 'tls' });
    expect(seen).toEqual({ bytes: 0, requests: 0 });
  });

  it('is sent to a server whose certificate we trust', async () => {
    const { port } = await serveTls((answer) => answer(JSON.stringify(bridgeDepositAnswer)));
    const result = await deposit(`https://localhost:${port}`, { ca: SELF_SIGNED.cert });
    expect(result).toMatchObject({ kotani_reference_id: 'k-1' });
  });

  it('has an unknown outcome when the connection is lost after the request was read', async () => {
    const { port, seen } = await serveTls((_, socket) => socket.destroy());
    const result = await deposit(`https://localhost:${port}`, { ca: SELF_SIGNED.cert });
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'connection-lost' });
    expect(seen.requests).toBe(1);
  });

  it('is not sent when the other side speaks no TLS', async () => {
    const server = await serveHttp((response) => response.end());
    open.push(server);
    const result = await deposit(server.url.replace('http:', 'https:'));
    expect(result).toMatchObject({ name: 'NotSentError' });
    expect(server.seen).toHaveLength(0);
  });

  it('is not sent when the handshake is lost, or never ends', async () => {
    const lost = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    open.push(lost);
    expect(await deposit(`https://localhost:${lost.port}`)).toMatchObject({ name: 'NotSentError', reason: 'connect' });
    const stuck = await serveRaw((socket) => socket.resume());
    open.push(stuck);
    expect(await deposit(`https://localhost:${stuck.port}`, { timeoutMs: 200 })).toMatchObject({
      name: 'NotSentError',
      reason: 'connect-timeout',
    });
  });
});
