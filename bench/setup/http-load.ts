import { connect, type Socket } from 'node:net';

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
 * Sends requests over so many connections, each its next one when the last is answered.
 * @throws Error at the first answer that is not 200
 */
export async function sendAll(url: string, requests: readonly Buffer[], atOnce: number): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    const socket = open(url);
    try {
      while (next < requests.length) {
        const request = requests[next] as Buffer;
        next += 1;
        await exchange(socket, request);
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Connections that stay open between requests, as those of most senders do: as many as there are requests at once. */
export interface Sender {
  /** @throws Error where the answer is not 200 */
  send(request: Buffer): Promise<void>;
  close(): void;
}

export function createSender(url: string): Sender {
  const all = new Set<Socket>();
  const idle: Socket[] = [];
  const another = (): Socket => {
    const socket = open(url);
    all.add(socket);
    return socket;
  };
  return {
    async send(request) {
      const socket = idle.pop() ?? another();
      await exchange(socket, request);
      idle.push(socket);
    },
    close() {
      for (const socket of all) socket.destroy();
    },
  };
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), noDelay: true });
}

/** One request and its answer, which says its length: those of our servers do. */
function exchange(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    const done = (error?: Error): void => {
      socket.off('data', onData).off('error', done).off('close', onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onClose = () => done(new Error('the server closed a connection in the middle of a request'));
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? Number.NaN);
      if (Number.isNaN(length)) return done(new Error(`an answer without a length: ${received.slice(0, head)}`));
      if (received.length < head + 4 + length) return;
      done(received.startsWith('HTTP/1.1 200 ') ? undefined : new Error(`not 200: ${received.slice(0, 300)}`));
    };
    socket.on('data', onData).on('error', done).on('close', onClose);
    socket.write(request);
  });
}
