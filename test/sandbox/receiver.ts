import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
}

/** A receiver of webhooks that records what came, with configurable answers. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Status for the next posts; the last one stays. */
  answer(...statuses: number[]): void;
  /** Is called for each post before it is answered. */
  onPost: (received: Received) => void | Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const statuses: number[] = [];
  async function respond(post: Received, response: ServerResponse): Promise<void> {
    await receiver.onPost(post);
    const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200;
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('noted');
  }
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const post = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) as unknown };
      receiver.received.push(post);
      void respond(post, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (...next) => void statuses.splice(0, statuses.length, ...next),
    onPost: () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
