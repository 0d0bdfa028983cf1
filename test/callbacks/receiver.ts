import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly atMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  /** It is sent when this resolves. @default at once */
  readonly after?: Promise<unknown>;
  /** Called when it is sent. */
  readonly sent?: () => void;
}

/** A caller's own server. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Connections, whatever came over them. */
  connections(): number;
  /** Its answer from now on; a function gets what came. @default 204 */
  answer: (received: Received) => number | Answer | 'cut';
  /** Resolves when that holds for what came. @default within 30 s */
  until(holds: (received: readonly Received[]) => boolean, withinMs?: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text) as unknown,
        atMs: Date.now(),
      };
      received.push(one);
      const answer = receiver.answer(one);
      if (answer === 'cut') {
        request.socket.destroy();
        return;
      }
      const { status, headers = {}, after, sent }: Answer = typeof answer === 'number' ? { status: answer } : answer;
      const send = () => {
        sent?.();
        response.writeHead(status, headers).end();
      };
      if (after === undefined) send();
      else void after.finally(send);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    received,
    connections: () => connections,
    answer: () => 204,
    async until(holds, withinMs = 30_000) {
      const endsAtMs = Date.now() + withinMs;
      while (!holds(received)) {
        if (Date.now() > endsAtMs) throw new Error(`not in time: ${received.map(({ text }) => text).join('\n')}`);
        await new Promise((next) => setTimeout(next, 20));
      }
      return received;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
