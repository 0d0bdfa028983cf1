import { connect } from 'node:net';

/**
 * One request as its bytes: made before the clock starts, so that the load costs little of the machine that it loads.
 * Without a body it is a GET.
 */
export function requestBytes(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Buffer {
  const ofBody =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host: new URL(url).host, ...ofBody, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}

/**
 * Sends requests over this many connections, each its next one when the last is answered.
 * @throws Error at the first answer that is not 200
 */
export async function sendAll(url: string, requests: readonly Buffer[], atOnce: number): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    const line = openLine(url);
    try {
      while (next < requests.length) {
        const request = requests[next] as Buffer;
        next += 1;
        await line.send(request);
      }
    } finally {
      line.close();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/**
 * Connections that stay open between requests, like those of most senders: as many as there are requests at once. Each is
 * used in its turn, so that the server closes none as idle.
 */
export function createSender(url: string): Sender {
  const all: Line[] = [];
  const idle: Line[] = [];
  const another = (): Line => {
    const line = openLine(url);
    all.push(line);
    return line;
  };
  return {
    async send(request) {
      let line = idle.shift();
      // A server ends a connection that has been idle for a while.
      while (line?.isOpen() === false) line = idle.shift();
      line ??= another();
      await line.send(request);
      idle.push(line);
    },
    close: () => all.forEach((line) => line.close()),
  };
}

export interface Sender {
  /** One request and its answer. @throws Error if that is not 200 */
  send(request: Buffer): Promise<void>;
  close(): void;
}

interface Line extends Sender {
  isOpen(): boolean;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** A connection for one request after the other. Answers must have a length: those of our servers do. */
function openLine(url: string): Line {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received = '';
  let waiting: Waiting | undefined;
  const end = (error?: Error): void => {
    const ended = waiting;
    waiting = undefined;
    received = '';
    if (error === undefined) ended?.resolve();
    else ended?.reject(error);
  };
  socket.on('error', end);
  socket.on('close', () => end(new Error('the server closed a connection in the middle of a request')));
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) return end(new Error(`an answer without a length: ${received.slice(0, head)}`));
    if (received.length < head + 4 + length) return;
    end(received.startsWith('HTTP/1.1 200 ') ? undefined : new Error(`not 200: ${received.slice(0, 300)}`));
  });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the server closed a connection between two requests'));
        waiting = { resolve, reject };
        socket.write(request);
      }),
    isOpen: () => socket.readyState === 'open',
    close: () => socket.destroy(),
  };
}
