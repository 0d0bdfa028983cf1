import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Length of the preface of HTTP/2 clients. */
const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const HEADERS_FRAME = 1;

export interface CallCounter {
  /** For the clients to be counted, in place of the server's own. */
  readonly address: string;
  /** gRPC calls since its start: each begins with one frame of headers. */
  calls(): number;
  close(): Promise<void>;
}

/** Passes everything on to a gRPC server without TLS, and counts the calls. */
export async function countCalls(server: string): Promise<CallCounter> {
  const [host, port] = server.split(':');
  const sockets = new Set<Socket>();
  let calls = 0;
  const listener = createServer((inner) => {
    const outer = connect({ host: host ?? '', port: Number(port), noDelay: true });
    const count = createFrameCounter(() => (calls += 1));
    inner.on('data', count);
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        inner.destroy();
        outer.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    calls: () => calls,
    async close() {
      const closed = new Promise((resolve) => {
        listener.close(resolve);
      });
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Reads a client's half of an HTTP/2 connection, in pieces of any size. */
export function createFrameCounter(onCall: () => void): (chunk: Buffer) => void {
  let toSkip = PREFACE_BYTES;
  let head = Buffer.alloc(0);
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(toSkip, chunk.length - at);
      toSkip -= skipped;
      at += skipped;
      const wanted = chunk.subarray(at, at + FRAME_HEAD_BYTES - head.length);
      head = Buffer.concat([head, wanted]);
      at += wanted.length;
      if (head.length < FRAME_HEAD_BYTES) return;
      if (head[3] === HEADERS_FRAME) onCall();
      toSkip = head.readUIntBE(0, 3);
      head = Buffer.alloc(0);
    }
  };
}
