import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** A port of loopback on which nothing listens. */
export { anyFreePort as closedPort } from '../../src/dev-server/free-port.js';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Connections that were ever accepted. */
  connections(): number;
  close(): Promise<void>;
}

type Answer = (response: ServerResponse, request: IncomingMessage, seen: SeenRequest) => unknown;

async function listening(
  server: Server,
): Promise<{ port: number; connections: () => number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A real HTTP server on loopback that reads each whole request, records it, and answers as the test says. */
export async function serveHttp(answer: Answer): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(entry);
      answer(response, request, entry);
    })();
  });
  const { port, ...rest } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, seen, ...rest };
}

/** A bare TCP server: the test has the sockets. */
export async function serveRaw(onConnection: (socket: Socket) => unknown) {
  const { port, ...rest } = await listening(createRawServer(onConnection));
  return { port, url: `http://127.0.0.1:${port}`, ...rest };
}

export const answerJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
