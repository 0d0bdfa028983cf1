import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

/** What is done with one request: an answer, or the connection is cut after the request was read. */
export type Turn = { status: number; body?: unknown; headers?: Record<string, string> } | 'cut' | 'hang';

export interface FailingGateway {
  readonly url: string;
  /** `METHOD path` of every request so far. */
  readonly asked: string[];
  readonly bodies: string[];
  /** The next turns, in this order; the last one repeats. */
  plays(...turns: readonly Turn[]): void;
  /** Stops listening. */
  stop(): Promise<void>;
  /** Listens again, at the same port. */
  restart(): Promise<void>;
}

/** A server with scripted faults. */
export async function startFailingGateway(): Promise<FailingGateway> {
  const asked: string[] = [];
  const bodies: string[] = [];
  let turns: readonly Turn[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push(`${request.method} ${request.url}`);
    bodies.push(Buffer.concat(chunks).toString('utf8'));
    const [turn = { status: 200, body: {} }] = turns;
    if (turns.length > 1) turns = turns.slice(1);
    if (turn === 'hang') return;
    if (turn === 'cut') return void request.socket.destroy();
    const { status, body, headers = {} } = turn;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const newServer = () => createServer((request, response) => void serve(request, response));
  let server = newServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  afterAll(stop);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    bodies,
    plays(...next) {
      asked.length = 0;
      bodies.length = 0;
      turns = next;
    },
    stop,
    async restart() {
      server = newServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
