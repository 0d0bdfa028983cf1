import { once as happened } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
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
  /** What is answered to the next requests, each once, before that. */
  first(...answers: readonly ScriptedAnswer[]): void;
}

interface ScriptedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A server with scripted answers, which remembers its requests. */
export async function startScriptedGateway(): Promise<ScriptedGateway> {
  const requests: ReceivedRequest[] = [];
  const once: ScriptedAnswer[] = [];
  let always: ScriptedAnswer = { status: 200, body: {} };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, authorization: headers.authorization, body: await bodyOf(request) });
    const { status, body } = once.shift() ?? always;
    // A wait is answered when its time is up, or at once if the flow has ended.
    const seconds = Number(new URL(url, 'http://gateway').searchParams.get('timeoutSeconds'));
    if ((body as { state?: string }).state === 'running') await pause(seconds * 1_000);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await happened(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (status, body) => (always = { status, body }),
    first: (...answers) => void once.push(...answers),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
