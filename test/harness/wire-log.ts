import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A request that went over the wire whole, and the status that came back; null while none has, or what came is not HTTP. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number | null;
}

export interface WireLog {
  /** Where to send what is meant for the target. */
  readonly url: string;
  requests(): readonly WireRequest[];
  close(): Promise<void>;
}

/** Passes bytes on in both directions, cuts and resets included, and counts the requests that it sees. */
export async function startWireLog(target: string): Promise<WireLog> {
  const { hostname, port } = new URL(target);
  const seen: { -readonly [Member in keyof WireRequest]: WireRequest[Member] }[] = [];
  const sockets = new Set<Socket>();

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    let unread = Buffer.alloc(0);
    let latest: (typeof seen)[number] | undefined;
    client.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      for (let read = firstRequest(unread); read !== undefined; read = firstRequest(unread)) {
        latest = { ...read.request, status: null };
        seen.push(latest);
        unread = unread.subarray(read.length);
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.toString('latin1', 0, 12)) ?? [];
      if (latest?.status === null && status !== undefined) latest.status = Number(status);
      // What follows is more of the same answer.
      latest = undefined;
      client.write(bytes);
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('end', () => to.end());
      from.on('error', () => to.resetAndDestroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroySoon();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => seen,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Undefined while it is not there whole. @throws Error if its body has no length: what cannot be counted must not pass */
function firstRequest(bytes: Buffer): { request: Omit<WireRequest, 'status'>; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const [, method = '', path = ''] = /^(\S+) (\S+) HTTP\/1\.1/.exec(head) ?? [];
  if (/^transfer-encoding:/im.test(head)) throw new Error('the wire log reads no body without a length');
  const bodyLength = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const start = headEnd + 4;
  if (bytes.length < start + bodyLength) return undefined;
  const body = bytes.toString('utf8', start, start + bodyLength);
  return { request: { method, path, body }, length: start + bodyLength };
}
