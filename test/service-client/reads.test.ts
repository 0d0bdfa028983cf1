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
const read = (client: ServiceClient, reference = 'ref-1') =>
  client.getOfframp(reference).catch((error: unknown) => error);

async function answering(answer: (response: ServerResponse) => unknown, reference?: string): Promise<unknown> {
  const server = await serveHttp((response) => answer(response));
  open.push(server);
  return read(clientOf(server.url), reference);
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

  it.each([600, 999])('takes the status %i, which no other reader would take, for a server error', async (status) => {
    const server = await serveHttp((response) => answerJson(response, status, { success: true, data: offramp }));
    open.push(server);
    const client = clientOf(server.url);
    expect(await read(client)).toMatchObject({ name: 'ServiceUnavailableError', httpStatus: 502 });
    expect(await client.relay('getOfframp', 'ref-1')).toMatchObject({ httpStatus: 502 });
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

  it.each([
    { success: false, message: 'Not found' },
    { success: false, message: 'Not found', data: { errors: [] } },
    { success: false, error_code: 'NOT_FOUND' },
    { status: 'error', message: 'Nothing has such a name', error_code: 'NOT_FOUND', timestamp: '2026-01-01T00:00:00Z' },
    { statusCode: 404, message: 'The deposit r-1 does not exist', error: 'Not Found', data: {} },
  ])('takes a 404 of the service for a miss: %j', async (body) => {
    const miss = await answering((response) => answerJson(response, 404, body));
    expect(miss).toMatchObject({ name: 'RejectedError', httpStatus: 404, isNotFound: true });
  });

  it.each([
    { message: 'no Route matched with those values' },
    { statusCode: 404, message: 'Cannot GET /api/v3/onramp/crypto/r-1', error: 'Not Found' },
    { statusCode: 404, message: 'The deposit r-1 does not exist', error: 'Not Found' },
    { message: 'Transaction not found' },
    { timestamp: '2026-01-01T00:00:00Z', status: 404, error: 'Not Found', path: '/api/v3/onramp/crypto/r-1' },
    { type: 'about:blank', title: 'Not Found', status: 404, detail: 'No static resource api/v3/onramp/crypto/r-1.' },
    { message: 'Application not found', code: 404, status: 'error' },
    { detail: 'Not Found' },
    { code: 'NOT_FOUND', error: 'Not Found' },
    { success: false },
    {},
    [],
    'Not Found',
  ])('does not take a 404 that the service did not write for an answer: %j', async (body) => {
    const front = await answering((response) => answerJson(response, 404, body));
    expect(front).toMatchObject({ name: 'ServiceUnavailableError', httpStatus: 404 });
  });

  it.each([
    { success: false, message: 'GET /api/v3/onramp/crypto/r-1 does not exist', error_code: 'NOT_FOUND' },
    { success: false, message: 'Route not found' },
    { statusCode: 404, message: 'Cannot GET /api/v3/onramp/crypto/r-1', error: 'Not Found', data: {} },
  ])('does not take a 404 of its router for a miss: %j', async (body) => {
    const front = await answering((response) => answerJson(response, 404, body));
    expect(front).toMatchObject({ name: 'RejectedError', httpStatus: 404, isNotFound: false });
  });

  it('does not take a page with status 404 for an answer', async () => {
    const page = await answering((response) => response.writeHead(404).end('<html>'));
    expect(page).toMatchObject({ name: 'ServiceUnavailableError', httpStatus: 404 });
  });

  it('is refused, not "duplicate", by a 409', async () => {
    const result = await answering((response) => answerJson(response, 409, { success: false, message: 'busy' }));
    expect(result).toMatchObject({ name: 'RejectedError', httpStatus: 409 });
  });

  it('is not sent if nothing listens, unavailable if the connection is lost', async () => {
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
