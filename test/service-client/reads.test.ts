import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from '../../src/service-client/index.js';
import { answerJson, closedPort, serveHttp, serveRaw } from './scripted-server.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const clientOf = (baseUrl: string, options: Partial<ServiceClientOptions> = {}): ServiceClient => {
  const client = createServiceClient({ baseUrl, token: () => Promise.resolve('t'), timeoutMs: 5_000, ...options });
  open.push(client);
  return client;
};
const read = (client: ServiceClient) => client.getOfframp('ref-1').catch((error: unknown) => error);

async function answering(answer: (response: ServerResponse) => unknown): Promise<unknown> {
  const server = await serveHttp((response) => answer(response));
  open.push(server);
  return read(clientOf(server.url));
}

const offramp = { referenceId: 'ref-1', status: 'CRYPTO_RECEIVED' };

describe('a read', () => {
  it('takes numbers as text, text as numbers, unknown words and unknown members', async () => {
    const data = await answering((response) =>
      response.end(
        `{"success":"true","message":7,"data":{"referenceId":"ref-1","status":"MINTED","fiatAmount":9007199254740993,
        "cryptoAmount":"0.65","transactionHashAmount":1e-7,"usingIntegratedWallet":"true","onchainError":"gone","new":1}}`,
      ),
    );
    expect(data).toEqual({
      referenceId: 'ref-1',
      status: 'MINTED',
      fiatAmount: '9007199254740993',
      cryptoAmount: '0.65',
      transactionHashAmount: '0.0000001',
      usingIntegratedWallet: true,
      onchainError: 'gone',
      new: 1,
    });
  });

  it('uses one connection again and again', async () => {
    const server = await serveHttp((response) =>
      answerJson(response, 200, { success: true, message: '', data: offramp }),
    );
    open.push(server);
    const client = clientOf(server.url);
    for (let count = 0; count < 5; count += 1) await client.getOfframp('ref-1');
    expect(server.connections()).toBe(1);
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/api/v3/offramp/ref-1', body: '' });
  });

  it('is never repeated by the client itself', async () => {
    const server = await serveHttp((response) => answerJson(response, 500, {}));
    open.push(server);
    expect(await read(clientOf(server.url))).toMatchObject({ name: 'ServiceUnavailableError' });
    expect(server.seen).toHaveLength(1);
  });

  it.each([302, 408, 410, 500, 503])('is unavailable, and may be repeated, after %i', async (status) => {
    const result = await answering((response) => answerJson(response, status, { success: false, message: 'x' }));
    expect(result).toMatchObject({ name: 'ServiceUnavailableError', httpStatus: status });
  });

  it('is unavailable when its 2xx is no JSON, or gives no reason', async () => {
    const html = await answering((response) => response.end('<html>'));
    expect(html).toMatchObject({ name: 'ServiceUnavailableError', reason: 'unreadable-body' });
    const silent = await answering((response) => answerJson(response, 200, { success: false }));
    expect(silent).toMatchObject({ name: 'ServiceUnavailableError', reason: 'no-reason' });
  });

  it('names the members, and not the values, of an answer that breaks the contract', async () => {
    const result = await answering((response) =>
      answerJson(response, 200, { success: true, message: '', data: { referenceId: ['+256700123456'] } }),
    );
    expect(result).toMatchObject({ name: 'ContractBrokenError', paths: ['referenceId', 'status'] });
    expect(JSON.stringify(result)).not.toContain('256700');
  });

  it('tells a 404 of the service from a 404 of whatever stands in front of it', async () => {
    const miss = await answering((response) => answerJson(response, 404, { success: false, message: 'Not found' }));
    expect(miss).toMatchObject({ name: 'RejectedError', httpStatus: 404, isNotFound: true });
    const front = await answering((response) => response.writeHead(404).end('<html>'));
    expect(front).toMatchObject({ name: 'RejectedError', httpStatus: 404, isNotFound: false });
  });

  it('is refused, not "duplicate", by a 409', async () => {
    const result = await answering((response) => answerJson(response, 409, { success: false, message: 'busy' }));
    expect(result).toMatchObject({ name: 'RejectedError', httpStatus: 409 });
  });

  it('is not sent when nobody listens, unavailable when the connection is lost', async () => {
    expect(await read(clientOf(`http://127.0.0.1:${await closedPort()}`))).toMatchObject({
      name: 'NotSentError',
      reason: 'refused',
    });
    const lost = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    open.push(lost);
    expect(await read(clientOf(lost.url))).toMatchObject({
      name: 'ServiceUnavailableError',
      reason: 'connection-lost',
    });
  });

  it('gives the data of every operation without an argument, too', async () => {
    const server = await serveHttp((response) =>
      answerJson(response, 200, { success: true, message: '', data: { key: 'k' } }),
    );
    open.push(server);
    expect(await clientOf(server.url).createApiKey()).toEqual({ key: 'k' });
  });
});
