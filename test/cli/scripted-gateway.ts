import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface ScriptedGateway {
  readonly url: string;
  /** Every request so far, the latest last. */
  readonly requests: readonly ReceivedRequest[];
  /** What is answered from now on. */
  answer(status: number, body: unknown): void;
}

/** A server with scripted answers, which remembers its requests. */
export async function startScriptedGateway(): Promise<ScriptedGateway> {
  const requests: ReceivedRequest[] = [];
  let next: { status: number; body: unknown } = { status: 200, body: {} };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, authorization: headers.authorization, body: await bodyOf(request) });
    response.writeHead(next.status, { 'content-type': 'application/json' }).end(JSON.stringify(next.body));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (status, body) => (next = { status, body }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
